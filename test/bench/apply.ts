import type { BenchOptions } from './bench.js';
import { planJob } from './planned-job.js';
import { compareSending } from './sending.js';
import { format } from './table.js';

/** What a step of SMS gets that names none. */
const CONCURRENCY = 8;

/** SMS in batches of 1,000: journaled and synced against the bare posting of the same bytes. */
export async function benchApply({ directory, rows, runs }: BenchOptions): Promise<void> {
  const limits = { requestsPerSecond: 1800, messagesPerSecond: 25_000, concurrency: CONCURRENCY };
  const job = await planJob(directory, { kind: 'sms', rows, limits });
  const { requests, messages } = job;
  await compareSending(job, {
    title: `apply: ${format(messages, 0)} messages in ${format(requests, 0)} requests, ${CONCURRENCY} at once`,
    unit: { name: 'messages', count: messages },
    concurrency: CONCURRENCY,
    runs,
  });
}
