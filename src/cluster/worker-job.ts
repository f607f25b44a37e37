import { z } from 'zod';
import { InternalError } from '../domain/errors.js';
import { isRowStep, type Job, type RowStep, type ServiceSettings } from '../job/job.js';

/** What a worker needs to send the requests of a run. Secrets are named in it, never given. */
export interface WorkerJob extends Pick<Job, 'name' | 'steps'> {
  readonly service: ServiceSettings;
  readonly maxFailedPercent: number;
}

const VERSION = 1;

const encoded = z.object({ version: z.literal(VERSION), job: z.unknown() });

export function encodeWorkerJob(name: string, { service, steps, guards }: Job): string {
  const job: WorkerJob = { name, service, steps, maxFailedPercent: guards.maxFailedPercent };
  return JSON.stringify({ version: VERSION, job });
}

/** Undefined for one of another version of Volley. */
export function decodeWorkerJob(text: string): WorkerJob | undefined {
  const read = encoded.safeParse(JSON.parse(text));
  // `encodeWorkerJob` of the same version wrote it.
  return read.success ? (read.data.job as WorkerJob) : undefined;
}

export function rowStepOf({ steps }: Pick<WorkerJob, 'steps'>, number: number): RowStep {
  const step = steps[number - 1];
  if (step !== undefined && isRowStep(step)) return step;
  throw new InternalError('unexpected', `Cannot work on step ${number}: the job has no such step with rows`);
}
