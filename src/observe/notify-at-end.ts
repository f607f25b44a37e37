import type { Host } from '../command/deps.js';
import { describeFailure, explainError } from '../command/failure.js';
import type { CommandEnd } from '../command/runner.js';
import type { Job } from '../job/job.js';
import type { Summary } from '../report/summary.js';
import type { Ended } from './hook-body.js';

/** What a command learns on its way to its end. */
export interface AboutEnd {
  job?: Job;
  /** Of its runs, and at last of the plan that a guard refused. */
  summaries?: readonly Summary[];
  /** Rows of all runs of the job. */
  openDoubt?: number;
}

/**
 * Posts how a command ended, in whatever way, to `notify.url` of its job: at the very end, when the lock is released and the
 * result printed. It changes neither: what fails is a warning.
 */
export async function notifyAtEnd(
  host: Host,
  command: 'run' | 'apply',
  task: (about: AboutEnd) => Promise<CommandEnd>,
): Promise<CommandEnd> {
  const about: AboutEnd = {};
  let end: CommandEnd;
  try {
    end = await task(about);
  } catch (error) {
    const { state, exitCode, error: failure } = describeFailure(error);
    await post(host, about, { command, state, exitCode, reason: explainError(error).message, error: failure });
    throw error;
  }
  const { exitCode, reason } = end;
  await post(host, about, {
    command,
    state: about.summaries?.at(-1)?.state ?? 'nothing-new',
    exitCode,
    reason,
    error: null,
  });
  return end;
}

async function post(host: Host, { job, ...about }: AboutEnd, ended: Ended): Promise<void> {
  if (job?.notify === undefined) return;
  const { postHook } = await import('./post-hook.js');
  await postHook(host, { job, notify: job.notify, ended: { ...ended, ...about } });
}
