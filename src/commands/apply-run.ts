import { envOf, type Host } from '../command/deps.js';
import { describeRunEnd } from '../command/failure.js';
import { printResult } from '../command/print.js';
import { type CommandEnd, logCommand, type NameFields } from '../command/runner.js';
import { screenOf } from '../command/screen.js';
import { meterCommand } from '../observe/meter-command.js';
import type { MetricsFlags } from '../observe/metrics-outlets.js';
import { notifyAtEnd } from '../observe/notify-at-end.js';
import { EXIT, exitCodeOfOpenDoubt, worstExitCode } from '../report/exit-code.js';
import { explainDoubt, explainEnd, listFigures } from '../texts/explain-end.js';
import { formatOpenDoubt, formatSummary } from '../texts/summary-text.js';
import { applyRunDirectory } from './session/session.js';

export interface ApplyFlags {
  readonly run: string;
  /** Id of the reviewed plan; nothing else is sent. */
  readonly confirm: string | undefined;
  readonly ignoreChangedInputs: boolean;
  /** Rows that other runs of the job left in doubt do not count for the exit code. */
  readonly ignoreOpenDoubt?: boolean;
  /** Accepts a job directory that was copied or restored. */
  readonly adopt?: boolean;
  /** Waits for the job's `notBefore`. */
  readonly wait?: boolean | undefined;
  readonly metrics?: MetricsFlags | undefined;
  readonly json: boolean | undefined;
}

/** `volley apply RUN`: sends exactly the plan in a run directory, or resumes it. Returns the exit code. */
export function applyRun(flags: ApplyFlags, host: Host): Promise<number> {
  return logCommand(host, { command: 'apply', directory: flags.run }, (name) =>
    meterCommand(host, flags.metrics, (host) =>
      notifyAtEnd(host, 'apply', (host) => applyNamed(flags, { host, name })),
    ),
  );
}

async function applyNamed(flags: ApplyFlags, { host, name }: { host: Host; name: NameFields }): Promise<CommandEnd> {
  const { plan, testedRun, summary, openDoubt } = await applyRunDirectory(host, flags.run, {
    ...flags,
    onOpened: ({ id, job }) => {
      host.emit?.({ type: 'job', job });
      name({ job: job.name, run: id });
    },
  });
  host.emit?.({ type: 'open-doubt', openDoubt });
  const { service, failOn } = plan.job;
  const others = openDoubt.runs.filter(({ run }) => run !== plan.id);
  const doubt = flags.ignoreOpenDoubt ? EXIT.ok : exitCodeOfOpenDoubt(others, failOn);
  const exitCode = worstExitCode([summary.exitCode, doubt]);
  const screen = screenOf(host);
  await printResult(host, flags, {
    json: { ...describeRunEnd(summary), exitCode, openDoubt },
    text: `${formatSummary(summary, { isSandbox: service.sandbox, testedRun, nowMs: envOf(host).clock.now(), screen })}${formatOpenDoubt(openDoubt, [plan.id], screen)}`,
  });
  name({ ...listFigures(summary), openDoubt: openDoubt.rows });
  const reasons = [explainEnd(summary), explainDoubt(others)];
  return { exitCode, reason: reasons.filter((reason) => reason !== '').join('; ') };
}
