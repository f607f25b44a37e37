import { countOf } from '../../domain/count-of.js';
import { formatTime } from '../../domain/stated-time.js';
import { fixDates } from '../../job/fix-dates.js';
import type { Job } from '../../job/job.js';
import type { LeftOut } from '../../plan/inputs/select-inputs.js';
import { makePlan, type PlanOutcome } from '../../plan/make-plan.js';
import { nameAgain, readAgain } from '../../plan/occurrence.js';
import { warnOfList } from '../../plan/suppress/describe-lists.js';
import type { Log } from '../../ports/log.js';
import { readSummary } from '../../prune/list-runs.js';
import type { PastRun } from '../../registry/history.js';
import { OwnerLookup } from '../../registry/owner-lookup.js';
import { ReceivedRows } from '../../registry/received-rows.js';
import type { Registry } from '../../registry/registry.js';
import { countTakenBack } from '../../report/summary.js';
import { assertOwned } from '../../retry/assert-owned.js';
import type { Files } from '../../storage/files.js';
import type { Lock } from '../../storage/lock.js';
import { formatFileNotices, listFileNotices } from '../account/file-notices.js';
import { listLeftOut } from '../account/left-out-lines.js';
import { createPlanDeps, type Host, runtimeOf } from '../support/deps.js';
import { isDiskError } from '../terminal/disk-error.js';
import { createProgressView } from '../terminal/progress.js';
import { screenOf } from '../terminal/screen.js';

/** Plans what is new for a job, shows progress, and reports the files that it omitted. */
export async function planNewInput(
  loaded: Job,
  context: {
    host: Host;
    log: Log;
    history: readonly PastRun[];
    registry: Registry;
    isAgain: boolean;
    /** The same command has just finished a run. */
    isResumed?: boolean;
    signal: AbortSignal;
    lock: Pick<Lock, 'assertHeld'>;
  },
): Promise<PlanOutcome> {
  const { host, log, history, registry } = context;
  const { directories } = registry;
  const { files, clock } = runtimeOf(host);
  const job = fixDates(loaded, clock.now());
  const startMs = clock.monotonicMs();
  const view = createProgressView(host, log);
  const occurrence = nameOccurrence(context.isAgain ? 'always' : job.repeat, registry, clock.now());
  const received = new ReceivedRows(files, directories);
  try {
    const deps = await createPlanDeps(host, { onProgress: view.planned, signal: context.signal });
    const sources = { files, registry: registry.state, history, received };
    const outcome = await makePlan(job, deps, {
      directories,
      occurrence,
      isAbandoned: (id) => registry.state.abandoned.has(id),
      nowMs: clock.now(),
      isResumed: context.isResumed === true,
      assertHeld: () => context.lock.assertHeld(),
      ownersFor: ({ id }) => new OwnerLookup(sources, { plan: { id, job, occurrence } }),
      findTaken: (kind, digest) => registry.findTaken({ job, occurrence }, { kind, digest }),
    });
    if (outcome.made !== undefined) {
      await assertOwned(sources, { ...outcome.made, directories });
      host.observer?.onPlan(outcome.made.plan, (clock.monotonicMs() - startMs) / 1000);
    }
    const leftOut = await Promise.all(outcome.leftOut.map((each) => noteTakenBack(each, { files, directories })));
    const isOnScreen = host.isStdoutTerminal && host.isStderrTerminal;
    // Where there is nothing else to say, the command itself names them.
    if (outcome.made !== undefined || context.isResumed === true || !isOnScreen)
      for (const line of listLeftOut(leftOut)) log.info(`skipped: ${line}`);
    const steps = outcome.made?.plan.steps ?? [];
    const notices = host.isStderrTerminal ? formatFileNotices(steps, screenOf(host)) : listFileNotices(steps);
    for (const notice of notices) log.info(notice);
    for (const list of steps.flatMap(({ suppression }) => suppression)) {
      const warning = warnOfList(list);
      if (warning !== undefined) log.warn(warning);
    }
    for (const { warning } of steps.flatMap(({ funnel = [] }) => funnel)) if (warning !== undefined) log.warn(warning);
    return { ...outcome, leftOut };
  } catch (error) {
    // The process that took over the job removes our unfinished files.
    if (isDiskError(error)) await context.lock.assertHeld();
    throw error;
  } finally {
    await received.close();
    view.close();
  }
}

/** A file whose messages a cancel took back was not sent, in the end: says so, and where its run is. */
async function noteTakenBack(
  leftOut: LeftOut,
  { files, directories }: { files: Files; directories: Registry['directories'] },
): Promise<LeftOut> {
  const directory = leftOut.run === undefined ? undefined : directories.of(leftOut.run);
  const summary = directory === undefined ? undefined : await readSummary(files, directory);
  const rows = summary === undefined ? 0 : countTakenBack(summary);
  if (directory === undefined || summary?.takenBackAt === undefined || rows === 0) return leftOut;
  const what = `${countOf(rows, 'message')} of it ${rows === 1 ? 'was' : 'were'} taken back`;
  const reason = `was sent by run ${leftOut.run}, and ${what} on ${formatTime({ at: summary.takenBackAt })}`;
  return { ...leftOut, reason, takenBackFrom: directory };
}

/** Distinguishes two plans for the same files; see `Plan.occurrence`. The day is that of the host's time zone. */
function nameOccurrence(repeat: Job['repeat'], { occurrences }: Registry, nowMs: number): string {
  if (repeat === 'never') return '';
  if (repeat === 'always') return nameAgain(Math.max(0, ...occurrences.map(readAgain)) + 1);
  const now = new Date(nowMs);
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
}
