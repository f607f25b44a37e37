import { join } from 'node:path';
import type { Job } from '../job/job.js';

/** The directory of a job's runs, lock and sandbox. */
export function jobDirectoryOf(job: Job): string {
  return join(job.output.directory, job.name);
}

/** Where an embedded sandbox keeps its state, in the directory of the job. */
export const SANDBOX_DIRECTORY = 'sandbox';

/** What an embedded sandbox accepted of a job. */
export function sandboxLedgerOf(jobDirectory: string): string {
  return join(jobDirectory, SANDBOX_DIRECTORY, 'ledger.ndjson');
}
