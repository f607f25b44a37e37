import { dirname, join } from 'node:path';
import { envOf, type Host } from '../command/deps.js';
import { placeDiskErrors } from '../command/disk-error.js';
import { lockDepsOf } from '../command/env.js';
import { describeRunEnd } from '../command/failure.js';
import { printResult } from '../command/print.js';
import { findNamedJob, openNamedRun } from '../command/run-directory.js';
import { type CommandEnd, logCommand, type NameFields } from '../command/runner.js';
import { screenOf, showPath } from '../command/screen.js';
import { escapeText } from '../command/terminal.js';
import { readOpenDoubt } from '../registry/open-doubt.js';
import { writeRunReport } from '../registry/tests/write-run-report.js';
import { EXIT } from '../report/exit-code.js';
import { PAGE_FILE } from '../report/write-report.js';
import { readLockOwner } from '../storage/lock.js';
import { explainEnd, listFigures } from '../texts/explain-end.js';
import { formatOpenDoubt, formatSummary } from '../texts/summary-text.js';

interface ReportFlags {
  readonly run: string;
  /** Prints the path of the page alone. */
  readonly html?: boolean | undefined;
  readonly json: boolean | undefined;
}

/** `volley report RUN`: writes the outputs of a run again, from its plan and journal alone. */
export function reportRun(flags: ReportFlags, host: Host): Promise<number> {
  return logCommand(host, { command: 'report', directory: flags.run }, (name) => reportNamed(flags, { host, name }));
}

async function reportNamed(flags: ReportFlags, { host, name }: { host: Host; name: NameFields }): Promise<CommandEnd> {
  const { files } = envOf(host);
  const { directory, plan, testedRun } = await openNamedRun(flags.run, { files, begun: true });
  name({ job: plan.job.name, run: plan.id });
  const isSandbox = plan.job.service.sandbox;
  const { summary, openDoubt } = await placeDiskErrors(dirname(directory), async () => {
    const summary = await writeRunReport(files, directory, plan);
    const isRunning = (await readLockOwner(lockDepsOf(envOf(host)), dirname(directory))) !== undefined;
    return { summary, openDoubt: await readOpenDoubt(files, dirname(directory), { isSandbox, isRunning }) };
  });
  const screen = screenOf(host);
  const job = await findNamedJob(flags.run, files);
  const page = `${escapeText(showPath(screen, join(directory, PAGE_FILE)))}\n`;
  const account = `${formatSummary(summary, { isSandbox, testedRun, job, nowMs: envOf(host).clock.now(), screen })}${formatOpenDoubt(openDoubt, [plan.id], screen)}`;
  await printResult(
    host,
    { json: flags.json ?? (flags.html === true ? false : undefined) },
    { json: { ...describeRunEnd(summary), openDoubt }, text: flags.html === true ? page : account },
  );
  name(listFigures(summary));
  return { exitCode: EXIT.ok, reason: `the outputs were written again; the run is ${explainEnd(summary)}` };
}
