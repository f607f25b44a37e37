import { applyRunDirectory } from '../commands/support/session.js';
import type { OpenDoubt, Summary } from '../report/summary.js';
import { maskThrown } from './mask-thrown.js';
import { createHost, type RunOptions } from './program-host.js';

export interface ApplyOptions extends RunOptions {
  /** Id of the plan that was reviewed; another one is refused. */
  readonly confirm?: string | undefined;
  /** Goes on though an input file changed since the plan was made; the plan is sent as it stands. */
  readonly ignoreChangedInputs?: boolean | undefined;
}

/** The account of a run, and what of its whole job is in doubt. */
export type AppliedRun = Summary & { readonly openDoubt: OpenDoubt };

/**
 * Sends exactly the plan in a run directory, or goes on with it, and gives the account of every row, as `summary.json` has it.
 * A run that stopped before its end resolves too, with `state: 'stopped'`; the same call goes on with it. Rejects with a
 * UserError when nothing may be sent: changed input, a guard, another plan than `confirm`, a lock that is held.
 */
export async function apply(runDirectory: string, options: ApplyOptions = {}): Promise<AppliedRun> {
  const { summary, openDoubt } = await maskThrown(
    applyRunDirectory(createHost(options), runDirectory, {
      confirm: options.confirm,
      ignoreChangedInputs: options.ignoreChangedInputs ?? false,
    }),
  );
  return { ...summary, openDoubt };
}
