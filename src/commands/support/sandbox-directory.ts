import { join } from 'node:path';

/** Where an embedded sandbox keeps its state, in the directory of the job. */
export const SANDBOX_DIRECTORY = 'sandbox';

/** What an embedded sandbox accepted of a job. */
export function sandboxLedgerOf(jobDirectory: string): string {
  return join(jobDirectory, SANDBOX_DIRECTORY, 'ledger.ndjson');
}
