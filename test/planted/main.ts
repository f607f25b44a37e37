import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAST_DISK } from '../fast-disk.js';
import { oneIn } from '../one-in.js';
import { type PlantedBug, readBugs } from './planted-bug.js';

/** What a copy needs to run the tests of a bug; its packages are those of the checkout. */
const COPIED = [
  'src',
  'test',
  'jobs',
  'samples',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
  '.rolldown.cjs',
  'README.md',
  'CHANGELOG.md',
];

interface Verdict {
  readonly bug: PlantedBug;
  /** The title of the first test that failed; undefined where none did. */
  readonly caughtBy: string | undefined;
  readonly seconds: number;
}

function copyCheckout(): string {
  const directory = mkdtempSync(join(FAST_DISK ?? tmpdir(), 'volley-planted-'));
  for (const name of COPIED) cpSync(name, join(directory, name), { recursive: true });
  // The command as it is without bugs, for tests that begin with a process: without it they would fail of every bug.
  for (const name of ['node_modules', 'dist']) symlinkSync(join(process.cwd(), name), join(directory, name));
  return directory;
}

type Failed = Readonly<{ fullName: string; failureMessages: readonly string[] }>;

/** The first failing test, or undefined where all passed. Throws where the tests did not run. */
async function runTests(
  directory: string,
  tests: readonly string[],
  options: Readonly<Record<string, number | string>>,
): Promise<Failed | undefined> {
  const report = join(directory, 'report.json');
  rmSync(report, { force: true });
  const vitest = join(directory, 'node_modules/vitest/vitest.mjs');
  // The next bug of this copy leaves nearly all modules as they are.
  const cache = { 'experimental.fsModuleCache': 'true', 'experimental.fsModuleCachePath': join(directory, 'cache') };
  const args = Object.entries({ bail: 1, reporter: 'json', outputFile: report, ...cache, ...options }).map(
    ([name, value]) => `--${name}=${value}`,
  );
  // All cases: a part of them, another one with each commit, would catch a bug with one commit and miss it with the next.
  const env = { ...process.env, VOLLEY_TESTS: 'all' };
  const child = spawn(process.execPath, [vitest, 'run', ...args, ...tests], { cwd: directory, env, stdio: 'ignore' });
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  if (!existsSync(report)) throw new Error(`the tests ${tests.join(' ')} did not run`);
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    testResults: { name: string; message: string; assertionResults: (Failed & { status: string })[] }[];
  };
  const failed = testResults.flatMap((file) => file.assertionResults).find(({ status }) => status === 'failed');
  if (failed !== undefined) return failed;
  const broken = testResults.find(({ message }) => message !== '');
  // Ended at the first failure, vitest may leave that one out of its report.
  if (code !== 0 && broken === undefined && options.bail !== 0)
    return runTests(directory, tests, { ...options, bail: 0 });
  if (code !== 0) throw new Error(`the tests ${tests.join(' ')} did not run: ${broken?.name} ${broken?.message}`);
  return undefined;
}

/** A test that is red without a bug would catch every bug: all that are named must be green first. */
async function assertGreen(bugs: readonly PlantedBug[]): Promise<void> {
  const directory = copyCheckout();
  try {
    const tests = [...new Set(bugs.flatMap((bug) => bug.tests))];
    const failed = await runTests(directory, tests, { maxWorkers: availableParallelism() });
    if (failed === undefined) return;
    const { fullName, failureMessages } = failed;
    throw new Error(`Cannot plant bugs: "${fullName}" fails without any. Fix it first\n${failureMessages[0]}`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function asPattern(title: string): string {
  return title.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

async function plant(bug: PlantedBug, directory: string): Promise<Verdict> {
  const startMs = performance.now();
  const path = join(directory, bug.file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    source.replace(bug.find, () => bug.replace),
  );
  try {
    let caughtBy: string | undefined;
    // A bug may leave a test waiting indefinitely; a right one takes a fraction of this.
    const options = {
      maxWorkers: 1,
      testTimeout: 20_000,
      hookTimeout: 40_000,
      ...(bug.title && { testNamePattern: asPattern(bug.title) }),
    };
    for (const tests of bug.tests) caughtBy ??= (await runTests(directory, [tests], options))?.fullName;
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
        const shown = verdict.caughtBy ?? 'NO TEST';
        process.stdout.write(`${bug.name}\n  caught by: ${shown} (${verdict.seconds.toFixed(1)} s)\n`);
      }
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  };
  // Starting and reporting, each has its processor idle for a while: one more than there are. A part goes beside other work, and loads the sources once.
  await Promise.all(Array.from({ length: isPart ? 1 : availableParallelism() + 1 }, work));
  return verdicts;
}

/**
 * A part of the names, or of the files, of the bugs to plant; `--tests-are-green` where the whole suite has just passed, `--a-part` for a part of them
 * with each commit, as in CI.
 */
const [flags, [only]] = [
  process.argv.slice(2).filter((word) => word.startsWith('--')),
  process.argv.slice(2).filter((word) => !word.startsWith('--')),
];
const all = readBugs('test/planted').filter(
  ({ name, file }) => only === undefined || name.includes(only) || file.includes(only),
);
const isPart = flags.includes('--a-part');
const bugs = isPart ? oneIn(24, all) : all;
const startMs = performance.now();
if (!flags.includes('--tests-are-green')) {
  await assertGreen(bugs);
  process.stdout.write(`Without a bug every test is green (${((performance.now() - startMs) / 1000).toFixed(1)} s)\n`);
}
const verdicts = await plantAll(bugs);
const missed = verdicts.filter(({ caughtBy }) => caughtBy === undefined);
const seconds = ((performance.now() - startMs) / 1000).toFixed(0);
process.stdout.write(`\n${bugs.length} bugs planted, ${verdicts.length - missed.length} caught; ${seconds} s\n`);
process.exitCode = missed.length === 0 ? 0 : 1;
