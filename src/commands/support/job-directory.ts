import { join } from 'node:path';
import type { Job } from '../../job/job.js';

/** The directory of a job's runs, lock and sandbox. */
export function jobDirectoryOf(job: Job): string {
  return join(job.output.directory, job.name);
}
