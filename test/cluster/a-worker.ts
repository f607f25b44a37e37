import { runVerb } from '../../src/command/runner.js';
import type { Terminal } from '../../src/command/terminal.js';
import type { Job } from '../../src/job/job.js';
import { work, workForJob } from '../../src/verbs/work.js';

export type WorkFlags = Omit<Parameters<typeof work.run>[0], 'job'>;

/** As the command line reads them where none is given. */
const WORK_FLAGS: WorkFlags = {
  untilDone: false,
  untilIdle: undefined,
  metricsFile: undefined,
  metricsPort: undefined,
  metricsHost: '127.0.0.1',
  json: true,
};

/** `volley work JOB` in this process. */
export function runWorker(job: string, flags: Partial<WorkFlags>, host: Terminal): Promise<number> {
  return runVerb('work', work, { ...WORK_FLAGS, ...flags, job }, host);
}

/** The same for a job that is in no file. */
export function runLoadedWorker(job: Job, host: Terminal): Promise<number> {
  return runVerb('work', { run: (flags, context) => workForJob(job, flags, context) }, WORK_FLAGS, host);
}
