import { createHash } from 'node:crypto';
import { isObject } from '../domain/is-object.js';
import { isRowStep, type Job } from '../job/job.js';
import { kindOf } from '../kinds/kinds.js';

/** What sending the requests of a run takes; leader and worker have it each from their own copy of the job file. */
export type WorkerJob = Pick<Job, 'name' | 'service' | 'steps' | 'guards'>;

/**
 * SHA-256 of what leader and workers must agree on: where the steps go, how fast, and what is done about a failure. Not of the
 * texts and rows, which the plan has, nor of the secrets, which each process reads where its own file says.
 */
export function digestJob({ service: { credentials: _, ...service }, steps, guards }: Omit<WorkerJob, 'name'>): string {
  const sent = steps.map((step) => {
    const isRepeatable = isRowStep(step) && kindOf(step).isRepeatable(step);
    return { kind: step.kind, limits: step.limits, isRepeatable };
  });
  const agreed = { service, steps: sent, maxFailedPercent: guards.maxFailedPercent };
  const inOrder = (_: string, value: unknown) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value;
  return createHash('sha256').update(JSON.stringify(agreed, inOrder)).digest('hex');
}
