import { join } from 'node:path';
import type { Job } from '../../job/job.js';

/** Where the runs of a job are, its lock, and its sandbox. */
export function jobDirectoryOf(job: Job): string {
  return join(job.output.directory, job.name);
}
