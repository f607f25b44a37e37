import { dirname, join } from 'node:path';
import { nodeFiles } from '../files.js';
import { isRowStep } from '../job/job.js';
import type { RunState } from '../journal/replay.js';
import { readRunState } from '../journal/state-reader.js';
import { maskNumbers, maskVerdict } from '../normalize/mask.js';
import { JOURNAL_FILE, type Plan, type PlannedStep } from '../plan/file.js';
import { EXIT } from '../report/exit-code.js';
import { readLockOwner } from '../run/lock.js';
import { readOpenDoubt } from '../run/open-doubt.js';
import { format } from './count-of.js';
import { placeDiskErrors } from './disk-error.js';
import { printResult } from './print.js';
import { formatOpenDoubt } from './print-open-doubt.js';
import { describeAction } from './print-summary.js';
import { openNamedRun } from './run-directory.js';
import { escapeText, type Terminal } from './terminal.js';
import { lockDepsOf, thisWorld } from './world.js';

/** `volley status RUN`: how far a run is, from its plan and journal; writes nothing, and may be asked while it runs. */
export async function showStatus(
  flags: { run: string; json: boolean | undefined },
  terminal: Terminal,
): Promise<number> {
  const { directory, plan } = await openNamedRun(flags.run);
  const jobDirectory = dirname(directory);
  const { state, owner, openDoubt } = await placeDiskErrors(jobDirectory, async () => {
    const { state } = await readRunState(nodeFiles, join(directory, JOURNAL_FILE));
    const owner = await readLockOwner(lockDepsOf(thisWorld), jobDirectory);
    const scope = { isSandbox: plan.job.service.sandbox, isRunning: owner !== undefined };
    return { state, owner, openDoubt: await readOpenDoubt(nodeFiles, jobDirectory, scope) };
  });
  const status = {
    job: plan.job.name,
    plan: plan.id,
    directory,
    state: nameState(state),
    exitCode: EXIT.ok,
    error: null,
    runner: owner === undefined ? null : { host: owner.host.split('/')[0] ?? '', pid: owner.pid },
    steps: plan.steps.map((step) => countStep(step, { state, job: plan.job })),
    openDoubt,
  };
  const lines = status.steps.map((step) => `  step ${step.number} (${step.kind}): ${describeStep(step)}\n`);
  const runner = status.runner === null ? '' : `, process ${status.runner.pid} on ${status.runner.host} has the job`;
  const text = `Run ${plan.id} of job ${plan.job.name}: ${escapeText(status.state)}${runner}\n${lines.join('')}${formatOpenDoubt(openDoubt, [plan.id])}`;
  await printResult(terminal, flags, { json: status, text });
  return EXIT.ok;
}

function nameState({ firstOpen, lastClose }: RunState): string {
  if (firstOpen === undefined) return 'planned';
  if (lastClose === undefined) return 'unfinished';
  return lastClose.reason === 'finished'
    ? 'finished'
    : `stopped (${lastClose.reason}: ${maskNumbers(lastClose.detail)})`;
}

function describeStep({ action, ...step }: ReturnType<typeof countStep>): string {
  if (action !== undefined) return escapeText(action === null ? 'had no turn yet' : describeAction(action));
  return (
    `${format(step.accepted)} accepted, ${format(step.rejected)} rejected, ${format(step.inDoubt)} in doubt, ` +
    `${step.notSent > 0 ? `${format(step.notSent)} not sent, ` : ''}${step.retried > 0 ? `${format(step.retried)} retried, ` : ''}` +
    `${format(step.inFlight)} in flight, ${format(step.open)} to go of ${format(step.planned)} rows`
  );
}

/** `action` is undefined for a step with rows, and null for one without that had no turn yet. */
function countStep({ number, kind, counts }: PlannedStep, { state, job }: { state: RunState; job: Plan['job'] }) {
  const { settledRows, retriedRows, open, action } = state.step(number);
  const step = job.steps[number - 1];
  const inFlight = [...open.values()].reduce((sum, each) => sum + (each.isInFlight ? each.rows[1] : 0), 0);
  const { accepted, 'in-doubt': inDoubt } = settledRows;
  const rejected = settledRows.rejected - retriedRows.rejected;
  const notSent = settledRows['not-sent'] - retriedRows['not-sent'];
  const retried = retriedRows.rejected + retriedRows['not-sent'];
  const settled = accepted + rejected + inDoubt + notSent + retried;
  return {
    number,
    kind,
    planned: counts.planned,
    accepted,
    rejected,
    inDoubt,
    notSent,
    retried,
    inFlight,
    open: counts.planned - settled - inFlight,
    ...(step === undefined || isRowStep(step)
      ? {}
      : { action: action?.verdict === undefined ? null : maskVerdict(action.verdict) }),
  };
}
