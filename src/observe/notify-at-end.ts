import { type Host, watchedBy } from '../command/deps.js';
import { describeFailure, explainError } from '../command/failure.js';
import type { CommandEnd } from '../command/runner.js';
import type { Job } from '../job/job.js';
import type { Summary } from '../report/summary.js';
import type { Ended } from './post-hook.js';

/**
 * Posts how a command ended, in whatever way, to `notify.url` of its job: at the very end, when the lock is released and the
 * result printed. It changes neither: what fails is a warning.
 */
export async function notifyAtEnd(
  host: Host,
  command: 'run' | 'apply',
  task: (host: Host) => Promise<CommandEnd>,
): Promise<CommandEnd> {
  let job: Job | undefined;
  let openDoubt: number | undefined;
  /** Of its runs, and at last of the plan that a guard refused. */
  const summaries: Summary[] = [];
  const watched = watchedBy(host, (event) => {
    if (event.type === 'job') job = event.job;
    if (event.type === 'report' || event.type === 'guarded') summaries.push(event.summary);
    if (event.type === 'open-doubt') openDoubt = event.openDoubt.rows;
  });
  const post = async (ended: Pick<Ended, 'state' | 'exitCode' | 'reason' | 'error'>) => {
    if (job?.notify === undefined) return;
    const { postHook } = await import('./post-hook.js');
    const known = openDoubt === undefined ? {} : { openDoubt };
    await postHook(host, { job, notify: job.notify, ended: { command, ...ended, summaries, ...known } });
  };
  let end: CommandEnd;
  try {
    end = await task(watched);
  } catch (error) {
    const { state, exitCode, error: failure } = describeFailure(error);
    await post({ state, exitCode, reason: explainError(error).message, error: failure });
    throw error;
  }
  await post({ ...end, state: summaries.at(-1)?.state ?? 'nothing-new', error: null });
  return end;
}
