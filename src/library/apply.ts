import { createContext } from '../command/context.js';
import { applyRunDirectory } from '../command/send-job.js';
import type { OpenDoubt, Summary } from '../report/summary.js';
import { maskThrown } from './mask-thrown.js';
import { createHost, type RunOptions } from './program-host.js';

export interface ApplyOptions extends RunOptions {
  /** Id of the plan that was reviewed; another one is refused. */
  readonly confirm?: string | undefined;
  /** Continues even if an input file changed since the plan was made; the plan is sent unchanged. */
  readonly ignoreChangedInputs?: boolean | undefined;
}

/** The account of a run, and the open doubt of its job. */
export type AppliedRun = Summary & { readonly openDoubt: OpenDoubt };

/**
 * Sends exactly the plan in a run directory, or resumes it, and returns the account of every row, as in
 * `summary.json`. A stopped run resolves too, with `state: 'stopped'`; the same call resumes it. Rejects with a
 * UserError when nothing may be sent: changed input, a guard, another plan than `confirm`, a lock that is held.
 */
export async function apply(runDirectory: string, options: ApplyOptions = {}): Promise<AppliedRun> {
  const { summary, openDoubt } = await maskThrown(
    applyRunDirectory(createContext(createHost(options)), runDirectory, {
      confirm: options.confirm,
      ignoreChangedInputs: options.ignoreChangedInputs ?? false,
      wait: false,
    }),
  );
  return { ...summary, openDoubt };
}
