import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeRecipients } from './input.js';
import { type BenchOptions, COMMAND, measureInTurns, runProgram, type Subject } from './measure.js';
import { format, formatMb, printTable } from './table.js';

const TEXT = 'Hi {{ first_name }}, {{ offer }} at ACME {{ city }} until Sunday. Your number: {{ customer_id }}.';

/** `volley plan`, everything kept and synced, against what would be written without it. */
export async function benchPlan({ directory, rows, runs }: BenchOptions): Promise<void> {
  const input = join(directory, 'recipients.csv');
  await writeRecipients(input, rows);
  const output = join(directory, 'rival.ndjson');
  const python = fileURLToPath(new URL('../../../../../test/bench/rivals/plan.py', import.meta.url));
  const hasPython = spawnSync('python3', ['-c', 'import phonenumbers']).status === 0;
  const subjects: Subject[] = [
    subjectVolley(directory),
    rival('(a) csv-parse, libphonenumber-js, mustache', ['plan-usual.js', input, output, TEXT]),
    rival('(b) csv-parse that only counts', ['plan-floor.js', input]),
    ...(hasPython
      ? [
          {
            name: '(c) Python, csv and phonenumbers',
            measure: () => runProgram({ command: 'python3', args: [python, input, output, TEXT] }),
          },
        ]
      : []),
  ];
  const medians = await measureInTurns(subjects, runs);
  const [ours] = medians;
  printTable(
    `plan: ${format(rows, 0)} rows, ${format(statSync(input).size / 1e6, 1)} MB; medians of ${runs}`,
    ['', 'seconds', 'rows/s', 'peak RSS', 'times as long as volley'],
    medians.map(({ name, seconds, peakMb }) => [
      name,
      format(seconds),
      format(rows / seconds, 0),
      formatMb(peakMb),
      format(seconds / (ours?.seconds ?? 1)),
    ]),
  );
  if (!hasPython) process.stdout.write('\n(c) Python was skipped: it has no package phonenumbers here.\n');
}

function subjectVolley(directory: string): Subject {
  const job = join(directory, 'bench.yaml');
  writePlanJob(job);
  return {
    name: 'volley plan',
    measure: async () => {
      rmSync(join(directory, 'out'), { recursive: true, force: true });
      return runProgram({ args: [COMMAND, 'plan', job] });
    },
  };
}

function writePlanJob(path: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(
    path,
    JSON.stringify({
      service: { sandbox: true },
      steps: [
        {
          kind: 'sms',
          input: { files: 'recipients.csv', country: 'SG' },
          destination: 'mobile',
          template: { text: TEXT },
          batchSize: 1000,
        },
      ],
      output: 'out',
    }),
  );
}

function rival(name: string, [script = '', ...args]: readonly string[]): Subject {
  const path = fileURLToPath(new URL(`./rivals/${script}`, import.meta.url));
  return { name, measure: () => runProgram({ args: [path, ...args] }) };
}
