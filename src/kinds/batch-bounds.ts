import type { SmsStep } from '../job/job.js';

/** The most that one request of a step holds. */
export interface BatchBounds {
  readonly messages: number;
  readonly segments: number;
}

/**
 * The batch size of the job, or less: a request is sent whole, so one larger than the limits of a second would exceed
 * them however long the lane waits.
 */
export function boundBatch({ batchSize, limits }: Pick<SmsStep, 'batchSize' | 'limits'>): BatchBounds {
  const { messagesPerSecond = Infinity, segmentsPerSecond = Infinity } = limits;
  return {
    messages: Math.max(1, Math.floor(Math.min(batchSize, messagesPerSecond))),
    segments: Math.max(1, Math.floor(segmentsPerSecond)),
  };
}
