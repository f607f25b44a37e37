import type { BenchOptions } from './bench.js';
import { planJob } from './planned-job.js';
import { compareSending } from './sending.js';
import { format } from './table.js';

const CONCURRENCY = 64;
/** Enough for ten seconds and more; the rate does not change after that. */
const MOST_ROWS = 50_000;

/** One request a row: an intent and an outcome are synced for each. */
export async function benchContacts({ directory, rows, runs }: BenchOptions): Promise<void> {
  const limits = { requestsPerSecond: 1800, concurrency: CONCURRENCY };
  const job = await planJob(directory, { kind: 'contacts', rows: Math.min(rows, MOST_ROWS), limits });
  await compareSending(job, {
    title: `contacts: ${format(job.requests, 0)} requests of one row, ${CONCURRENCY} at once`,
    unit: { name: 'requests', count: job.requests },
    concurrency: CONCURRENCY,
    runs,
  });
}
