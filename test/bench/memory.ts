import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchOptions } from './bench.js';
import { writeRecipients } from './input.js';
import { type Median, measureInTurns } from './measure.js';
import { subjectVolley } from './plan.js';
import { planJob } from './planned-job.js';
import { subjectApply } from './sending.js';
import { format, formatMb, printTable } from './table.js';

const MOST_RUNS = 3;

/** Time and memory at a tenth of the rows, at the rows and at ten times as many (these are only planned). */
export async function benchMemory({ directory, rows, runs }: BenchOptions): Promise<void> {
  const times = Math.min(runs, MOST_RUNS);
  const tenth = Math.ceil(rows / 10);
  const planned: Measurement[] = [];
  for (const count of [tenth, rows, rows * 10]) {
    planned.push({ rows: count, ...(await measurePlan(join(directory, `plan-${count}`), count, times)) });
  }
  const applied: Measurement[] = [];
  for (const count of [tenth, rows]) {
    applied.push({ rows: count, ...(await measureApply(join(directory, `apply-${count}`), count, times)) });
  }
  printTable(
    `memory: peak RSS and time of the whole process; medians of ${times}`,
    ['', 'rows', 'seconds', 'rows/s', 'peak RSS', 'more than at a tenth', 'times the seconds of a tenth'],
    [...planned.flatMap(describe), ...applied.flatMap(describe)],
  );
}

interface Measurement extends Median {
  readonly rows: number;
}

async function measurePlan(directory: string, rows: number, runs: number): Promise<Median> {
  const subject = subjectVolley(directory);
  await writeRecipients(join(directory, 'recipients.csv'), rows);
  return measureAlone(directory, subject, runs);
}

async function measureApply(directory: string, rows: number, runs: number): Promise<Median> {
  const limits = { requestsPerSecond: 1800, messagesPerSecond: 25_000, concurrency: 8 };
  const job = await planJob(directory, { kind: 'sms', rows, limits });
  const median = await measureAlone(directory, subjectApply(job), runs);
  return { ...median, seconds: median.wholeSeconds ?? median.seconds };
}

/** The files of ten million rows are gigabytes, and are gone when the next are made. */
async function measureAlone(
  directory: string,
  subject: Parameters<typeof measureInTurns>[0][number],
  runs: number,
): Promise<Median> {
  const [median] = await measureInTurns([subject], runs);
  rmSync(directory, { recursive: true, force: true });
  if (median === undefined) throw new Error('Nothing was measured');
  return median;
}

function describe({ name, rows, seconds, peakMb = 0 }: Measurement, index: number, all: readonly Measurement[]) {
  const before = all[index - 1];
  const growth =
    before === undefined ? ['', ''] : [`${formatMb(peakMb - (before.peakMb ?? 0))}`, format(seconds / before.seconds)];
  return [[name, format(rows, 0), format(seconds), format(rows / seconds, 0), formatMb(peakMb), ...growth]];
}
