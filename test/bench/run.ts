import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Summary } from '../../src/report/summary.js';
import { withSandbox } from '../sandbox/sandbox-process.js';
import { writeRecipients } from './input.js';
import { type BenchOptions, COMMAND, type Measured, measureInTurns, runProgram, SANDBOX } from './measure.js';
import { JOB_FILE, writeJob } from './planned-job.js';
import { format, formatMb, printTable } from './table.js';

/** The service's own cap. */
const MESSAGES_PER_SECOND = 25_000;
const LIMITS = { requestsPerSecond: 1800, messagesPerSecond: MESSAGES_PER_SECOND, concurrency: 8 };

/** One `volley run`, from its start to its end, as a person waits for it: against the time that the cap alone needs. */
export async function benchRun({ directory, rows, runs }: BenchOptions): Promise<void> {
  await writeRecipients(join(directory, 'recipients.csv'), rows);
  let last: Summary | undefined;
  const measure = (): Promise<Measured> =>
    withSandbox(directory, SANDBOX, async ({ origin, credentials }) => {
      rmSync(join(directory, 'out'), { recursive: true, force: true });
      writeJob(directory, { kind: 'sms', rows, limits: LIMITS }, origin);
      const args = [COMMAND, 'run', join(directory, JOB_FILE)];
      const { stdout, ...measured } = await runProgram({ args, env: { VOLLEY_API_KEY: credentials.apiKey } });
      last = JSON.parse(stdout);
      return measured;
    });
  const [median] = await measureInTurns([{ name: 'volley run', measure }], runs);
  if (median === undefined || last === undefined) throw new Error('Nothing was measured');

  const messages = last.steps[0]?.messages ?? 0;
  const capSeconds = messages / MESSAGES_PER_SECOND;
  printTable(
    `run: ${format(rows, 0)} rows, ${format(messages, 0)} messages at ${format(MESSAGES_PER_SECOND, 0)} a second; medians of ${runs}`,
    ['seconds', 'the cap needs', 'ratio', 'processor seconds', 'peak RSS'],
    [
      [
        format(median.seconds),
        format(capSeconds),
        format(median.seconds / capSeconds),
        format(median.processorSeconds ?? 0),
        formatMb(median.peakMb),
      ],
    ],
  );
  const { directory: run } = last;
  const files = readdirSync(run).map((name) => ({ name, bytes: statSync(join(run, name)).size }));
  const all = files.reduce((sum, { bytes }) => sum + bytes, 0);
  printTable(
    'what it leaves on disk',
    ['file', 'MB', 'bytes a row'],
    [...files.filter(({ bytes }) => bytes >= rows), { name: 'all', bytes: all }].map(({ name, bytes }) => [
      name,
      format(bytes / 1e6, 1),
      format(bytes / rows, 0),
    ]),
  );
}
