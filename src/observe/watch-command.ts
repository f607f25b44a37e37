import type { Context } from '../command/context.js';
import { describeFailure, explainError } from '../command/failure.js';
import type { CommandEnd } from '../command/runner.js';
import type { Job } from '../job/job.js';
import type { Summary } from '../report/summary.js';
import { type Ended, postHook } from './hook.js';
import type { MetricsFlags } from './metrics-outlets.js';

/**
 * Measures a command on a job where the flags ask for it, else nothing of that is loaded; and posts how it ended, in whatever way, to
 * `notify.url` of its job: at the very end, when the lock is released and the result printed. It changes neither: what fails is a
 * warning, save a port for metrics that cannot be had, which is refused before the command begins.
 */
export async function watchCommand(
  command: 'run' | 'apply',
  flags: MetricsFlags | undefined,
  context: Context,
  task: () => Promise<CommandEnd>,
): Promise<CommandEnd> {
  let job: Job | undefined;
  let openDoubt: number | undefined;
  /** Another process ended the runs, and posts their end. */
  let isOfAnother = false;
  /** What its runs came to, and at last the plan that a guard refused. */
  const summaries: Summary[] = [];
  const metrics = areAsked(flags) ? await (await import('./metrics.js')).openRunMetrics(flags, context) : undefined;
  context.watch((event) => {
    if (event.type === 'job') job = event.job;
    if (event.type === 'report' || event.type === 'guarded') summaries.push(event.summary);
    if (event.type === 'ended-meanwhile') isOfAnother = true;
    if (event.type === 'open-doubt') openDoubt = event.openDoubt.rows;
  });
  const close = async (ended: Pick<Ended, 'state' | 'exitCode' | 'reason' | 'error'>) => {
    const isPosted = isOfAnother && summaries.length === 0 && ended.error === null;
    if (job?.notify !== undefined && !isPosted) {
      const { broken } = context;
      await postHook(context, job, job.notify, { command, ...ended, summaries, broken, openDoubt });
    }
    await metrics?.end(ended.exitCode, ended.error?.code);
  };
  let end: CommandEnd;
  try {
    end = await task();
  } catch (thrown) {
    const { state, exitCode, error } = describeFailure(thrown);
    await close({ state, exitCode, reason: explainError(thrown).message, error });
    throw thrown;
  }
  await close({ ...end, state: summaries.at(-1)?.state ?? 'nothing-new', error: null });
  return end;
}

/** Measures a worker where the flags ask for it. */
export async function measureWork<T>(flags: MetricsFlags, context: Context, task: () => Promise<T>): Promise<T> {
  if (!areAsked(flags)) return task();
  const { WorkMetrics } = await import('./metrics.js');
  return WorkMetrics.measure(flags, context, task);
}

function areAsked(flags: MetricsFlags | undefined): flags is MetricsFlags {
  return flags?.metricsFile !== undefined || flags?.metricsPort !== undefined;
}
