import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { withSandbox } from '../sandbox/sandbox-process.js';
import { writeRecipients } from './input.js';
import {
  type BenchOptions,
  COMMAND,
  measureInTurns,
  type Program,
  runProgram,
  SANDBOX,
  type Subject,
} from './measure.js';
import { JOB_FILE, writeJob } from './planned-job.js';
import { format, printTable } from './table.js';

const ROWS = 10;
/** They are short, and vary more than others. */
const TIMES_AS_MANY_RUNS = 4;

/** Whole processes, from their start to their end. */
export async function benchStart({ directory, runs }: BenchOptions): Promise<void> {
  await writeRecipients(join(directory, 'recipients.csv'), ROWS);
  await withSandbox(directory, SANDBOX, async ({ origin, credentials }) => {
    const limits = { requestsPerSecond: 20, concurrency: 8 };
    writeJob(directory, { kind: 'sms', rows: ROWS, limits }, origin);
    const runJob: Subject = {
      name: `volley run, a job of ${ROWS} rows, the sandbox running already`,
      measure: () => {
        rmSync(join(directory, 'out'), { recursive: true, force: true });
        return runBare({
          args: [COMMAND, 'run', join(directory, JOB_FILE)],
          env: { VOLLEY_API_KEY: credentials.apiKey },
        });
      },
    };
    const subjects: Subject[] = [
      { name: 'volley --help', measure: () => runBare({ args: [COMMAND, '--help'] }) },
      runJob,
      { name: '(a) node -e 0', measure: () => runBare({ args: ['-e', '0'] }) },
    ];
    const medians = await measureInTurns(subjects, runs * TIMES_AS_MANY_RUNS);
    const bare = medians.at(-1)?.seconds ?? 0;
    printTable(
      `start: whole processes; medians of ${runs * TIMES_AS_MANY_RUNS}`,
      ['', 'seconds', 'times as long as bare node'],
      medians.map(({ name, seconds }) => [name, format(seconds, 3), format(seconds / bare)]),
    );
  });
}

/** Without what reports the memory, which takes a good part of so short a time. */
function runBare(program: Program): ReturnType<typeof runProgram> {
  return runProgram({ ...program, command: process.execPath });
}
