import { isRowStep, type Job } from '../../job/job.js';
import { makePlan, type PlanOutcome } from '../../plan/make-plan.js';
import { nameAgain, readAgain } from '../../plan/occurrence.js';
import type { Log } from '../../ports/log.js';
import type { PastRun } from '../../registry/history.js';
import type { Registry } from '../../registry/registry.js';
import { createHeldReader } from '../../retry/held-reader.js';
import { HeldRows } from '../../retry/held-rows.js';
import { ReceivedRows } from '../../retry/received-rows.js';
import { assertGiven } from '../../retry/retry-given.js';
import type { Lock } from '../../storage/lock.js';
import { formatFileNotices, listFileNotices } from '../account/file-notices.js';
import { isDiskError } from '../terminal/disk-error.js';
import { createProgressView } from '../terminal/progress.js';
import { screenOf } from '../terminal/screen.js';
import { createPlanDeps, type Host, runtimeOf } from './deps.js';

/** Plans what is new for a job, shows progress, and reports the files that it omitted. */
export async function planNewInput(
  job: Job,
  context: {
    host: Host;
    log: Log;
    jobDirectory: string;
    history: readonly PastRun[];
    registry: Registry;
    isAgain: boolean;
    signal: AbortSignal;
    lock: Pick<Lock, 'assertHeld'>;
  },
): Promise<PlanOutcome> {
  const { host, log, jobDirectory, history, registry } = context;
  const { files } = runtimeOf(host);
  const view = await createProgressView(host, log);
  const occurrence = nameOccurrence(context.isAgain ? 'always' : job.repeat, registry, runtimeOf(host).clock.now());
  const received = new ReceivedRows(files, jobDirectory);
  try {
    const deps = await createPlanDeps(host, { onProgress: view.planned, signal: context.signal });
    const plans = history.map((run) => ({ ...run, isBegun: run.state !== 'planned' }));
    const held = new HeldRows({ files, received }, { plans, job, occurrence });
    const kinds = new Map(job.steps.flatMap((step) => (isRowStep(step) ? [[step.input, step.kind] as const] : [])));
    const reader = createHeldReader(deps.reader, { held, kinds });
    const outcome = await makePlan(
      job,
      { ...deps, reader },
      {
        jobDirectory,
        occurrence,
        nowMs: runtimeOf(host).clock.now(),
        assertHeld: () => context.lock.assertHeld(),
        findTaken: (kind, digest) => registry.findTaken({ job, occurrence }, { kind, digest }),
      },
    );
    if (outcome.made !== undefined) await assertGiven(files, { plan: outcome.made.plan, jobDirectory, history });
    for (const { file, reason } of outcome.leftOut) log.info(`${file} is skipped: it ${reason}`);
    const steps = outcome.made?.plan.steps ?? [];
    const notices = host.isStderrTerminal ? formatFileNotices(steps, screenOf(host)) : listFileNotices(steps);
    for (const notice of notices) log.info(notice);
    return outcome;
  } catch (error) {
    // The process that took over the job removes our unfinished files.
    if (isDiskError(error)) await context.lock.assertHeld();
    throw error;
  } finally {
    await received.close();
    view.close();
  }
}

/** Distinguishes two plans for the same files; see `Plan.occurrence`. The day is that of the host's time zone. */
function nameOccurrence(repeat: Job['repeat'], { occurrences }: Registry, nowMs: number): string {
  if (repeat === 'never') return '';
  if (repeat === 'always') return nameAgain(Math.max(0, ...occurrences.map(readAgain)) + 1);
  const now = new Date(nowMs);
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
}
