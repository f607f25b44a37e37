import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { PLANTED_BUGS, type PlantedBug } from './bugs.js';

/** What a copy needs to run the tests of a bug; its packages are those of the checkout. */
const COPIED = ['src', 'test', 'jobs', 'samples', 'package.json', 'tsconfig.json', 'vitest.config.ts', 'README.md'];

interface Verdict {
  readonly bug: PlantedBug;
  /** The title of the first test that failed; undefined where none did. */
  readonly caughtBy: string | undefined;
  readonly seconds: number;
}

function copyCheckout(): string {
  const directory = mkdtempSync(join(tmpdir(), 'volley-planted-'));
  for (const name of COPIED) cpSync(name, join(directory, name), { recursive: true });
  symlinkSync(join(process.cwd(), 'node_modules'), join(directory, 'node_modules'));
  return directory;
}

/** The first failing test's title, or undefined where all passed. Throws where the tests did not run. */
async function runTests(directory: string, tests: readonly string[]): Promise<string | undefined> {
  const report = join(directory, 'report.json');
  const vitest = join(directory, 'node_modules/vitest/vitest.mjs');
  const args = [
    vitest,
    'run',
    '--bail',
    '1',
    '--maxWorkers',
    '1',
    // A bug may leave a test waiting for ever; a right one takes a fraction of this.
    '--testTimeout',
    '20000',
    '--reporter',
    'json',
    '--outputFile',
    report,
    ...tests,
  ];
  const child = spawn(process.execPath, args, { cwd: directory, stdio: 'ignore' });
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    testResults: { name: string; message: string; assertionResults: { status: string; fullName: string }[] }[];
  };
  const failed = testResults.flatMap((file) => file.assertionResults).find(({ status }) => status === 'failed');
  if (failed !== undefined) return failed.fullName;
  if (code !== 0) throw new Error(`the tests ${tests.join(' ')} did not run`);
  return undefined;
}

async function plant(bug: PlantedBug, directory: string): Promise<Verdict> {
  const startMs = performance.now();
  const path = join(directory, bug.file);
  const source = readFileSync(path, 'utf8');
  const places = source.split(bug.find).length - 1;
  if (places !== 1) throw new Error(`"${bug.name}": its place is in ${bug.file} ${places} times, expected once`);
  writeFileSync(
    path,
    source.replace(bug.find, () => bug.replace),
  );
  try {
    let caughtBy: string | undefined;
    for (const tests of bug.tests) caughtBy ??= await runTests(directory, [tests]);
    return { bug, caughtBy, seconds: (performance.now() - startMs) / 1000 };
  } finally {
    writeFileSync(path, source);
  }
}

/** One copy of the checkout for each worker; bugs are planted one at a time in each. */
async function plantAll(bugs: readonly PlantedBug[]): Promise<Verdict[]> {
  const waiting = [...bugs];
  const verdicts: Verdict[] = [];
  const work = async () => {
    const directory = copyCheckout();
    try {
      for (let bug = waiting.shift(); bug !== undefined; bug = waiting.shift()) {
        const verdict = await plant(bug, directory);
        verdicts.push(verdict);
        const shown = verdict.caughtBy ?? 'NOBODY';
        process.stdout.write(`${bug.name}\n  caught by: ${shown} (${verdict.seconds.toFixed(1)} s)\n`);
      }
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return verdicts;
}

const only = process.argv[2];
const bugs = PLANTED_BUGS.filter(({ name }) => only === undefined || name.includes(only));
const startMs = performance.now();
const verdicts = await plantAll(bugs);
const missed = verdicts.filter(({ caughtBy }) => caughtBy === undefined);
const seconds = ((performance.now() - startMs) / 1000).toFixed(0);
process.stdout.write(`\n${bugs.length} bugs planted, ${verdicts.length - missed.length} caught; ${seconds} s\n`);
process.exitCode = missed.length === 0 ? 0 : 1;
