import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Env } from '../../src/command/env.js';
import type { Job } from '../../src/job/job.js';
import { parseJob } from '../../src/job/load.js';
import { readJournal } from '../../src/journal/reader.js';
import { systemClock } from '../../src/ports/clock.js';
import type { Summary } from '../../src/report/summary.js';
import { stepsOf } from '../one-in.js';
import { aCsvOf, aFolder } from '../plan/a-plan.js';
import { aFakeClock, aFakeLane, aScriptedService, duplicatesAmong } from '../run/a-run.js';
import { aMemoryDisk, type MemoryDisk } from '../storage/a-memory-disk.js';
import { runInProcess } from './run-in-process.js';

const ROWS = 5;
/** A lock of which only the name could be written is free after its lease. */
const LATER_MS = 61_000;
const folder = aFolder({ 'people.csv': aCsvOf(ROWS) });

/** Each kind of error where a system gives it; the first two strike every operation. */
const ANY = /^/;
const KINDS = [
  { code: 'EIO', operations: ANY, concurrency: 1, atLeast: 150 },
  { code: 'ENOSPC', operations: ANY, concurrency: 3, atLeast: 150 },
  { code: 'EMFILE', operations: /^(open|readFile|readdir) /, concurrency: 3, atLeast: 50 },
  { code: 'EROFS', operations: /^(mkdir|rename|rm|unlink|open .*\.(part|ndjson)$)/, concurrency: 1, atLeast: 30 },
];

/** Lock, history, plan, journal, outputs: all that a command does on its disk, in the order in which it does it. */
test.each(KINDS)(
  'a disk that fails with $code in any one operation of a whole run (one in 36 with each commit), $concurrency requests at once: the error is reported, and the same command finishes',
  async ({ code, operations, concurrency, atLeast }) => {
    const job = aJobOf(concurrency);
    const unreported = new Set<string>();
    const count = await countOperations(job, operations);
    expect(count).toBeGreaterThan(atLeast);

    const { first, step } = stepsOf(36);
    for (let n = first; n <= count; n += step) {
      const { error, failing, ...failed } = await runFailing(job, { n, operations, code });
      const where = `operation ${n}, ${failing}`;
      if (error === undefined) unreported.add(failing);
      else expect(error, where).toMatchObject({ message: expect.stringContaining(code) });
      expect(failed.disk.openFiles, where).toEqual([]);
      // Only a guard leaves outputs of a run that has not begun.
      expect(runsOf(failed.disk, job).filter(isReportedUnbegun(failed.disk, job)), where).toEqual([]);

      await expectSameCommandFinishes(job, failed, where);
    }
    // Directories above that of the job need not be ours to sync.
    expect(['open /', 'open /out', 'sync /', 'sync /out']).toEqual(expect.arrayContaining([...unreported]));
  },
);

test('a disk that takes half of what any one write gives it, and says so: the rest is written, and nothing is lost', async () => {
  const job = aJobOf(3);
  const operations = /^write /;
  const count = await countOperations(job, operations);
  expect(count).toBeGreaterThan(15);

  const { first, step } = stepsOf(36);
  for (let n = first; n <= count; n += step) {
    const { error, failing, ...whole } = await runFailing(job, { n, operations, code: 'short write' });
    const where = `operation ${n}, ${failing}`;
    expect(error, where).toBeUndefined();
    expect(readSummary(whole.disk, job).balance.accepted, where).toBe(2 * ROWS);
    await expectSameCommandFinishes(job, whole, where);
  }
});

async function countOperations(job: Job, operations: RegExp): Promise<number> {
  const disk = aMemoryDisk();
  let count = 0;
  disk.onOperation = (operation) => {
    if (operations.test(operation)) count += 1;
  };
  await run(job, { disk, service: aScriptedService(), life: 1 });
  return count;
}

/** A first life in which the n-th of these operations fails. */
async function runFailing(job: Job, { n, operations, code }: { n: number; operations: RegExp; code: string }) {
  const disk = aMemoryDisk();
  const service = aScriptedService();
  let failing = '';
  let count = 0;
  disk.onOperation = (operation) => {
    if (!operations.test(operation)) return;
    count += 1;
    if (count !== n) return;
    failing = operation;
    disk.failAt(1, code);
  };
  const error = await run(job, { disk, service, life: 1 }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  disk.onOperation = () => {};
  return { disk, service, error, failing };
}

async function expectSameCommandFinishes(job: Job, { disk, service }: Omit<Life, 'life'>, where: string) {
  expect(await countUnintended(disk, job, service.sent.length), where).toBe(0);

  const exitCode = await run(job, { disk, service, life: 2 });
  expect([0, 3], where).toContain(exitCode);
  expect(duplicatesAmong(service.accepted), where).toEqual([]);
  const { balance, state, steps } = readSummary(disk, job);
  expect(state, where).toBe('finished');
  expect(balance, where).toMatchObject({ read: 2 * ROWS, rejected: 0, skipped: 0, unprocessed: 0 });
  expect(balance.accepted + balance.inDoubt, where).toBe(2 * ROWS);
  expect(service.accepted.length, where).toBeGreaterThanOrEqual(steps[1]?.balance.accepted ?? 0);
}

interface Life {
  readonly disk: MemoryDisk;
  readonly service: ReturnType<typeof aScriptedService>;
  readonly life: number;
}

function run(job: Job, { disk, service, life }: Life): Promise<number> {
  const runtime: Partial<Env> = {
    files: disk.files,
    clock: { ...systemClock, now: () => Date.now() + life * LATER_MS },
    random: () => 0.5,
    owner: { host: 'here', pid: life, instance: `i${life}` },
    isProcessAlive: () => false,
    loadLane: async () => aFakeLane(aFakeClock(), async () => {}).createLane,
    loadTransport: async () => () => service.transport,
  };
  return runInProcess(job, { env: { KEY: 'k3y' }, runtime });
}

function aJobOf(concurrency: number): Job {
  const base = 'http://127.0.0.1:1';
  const input = { files: 'people.csv' };
  const limits = { concurrency };
  const written = {
    name: 'sale',
    service: { account: 'acme', bases: { sms: base, contacts: base }, credentials: { apiKey: { env: 'KEY' } } },
    steps: [
      { kind: 'contacts', input, fields: { firstName: 'name', msisdn: 'mobile' }, limits },
      { kind: 'sms', input, destination: 'mobile', template: { text: 'Hi' }, batchSize: 2, limits },
    ],
    output: '/out',
  };
  return parseJob(JSON.stringify(written), join(folder, 'job.yaml'));
}

/** Requests beyond those that the journal has an intent for. */
async function countUnintended(disk: MemoryDisk, job: Job, sent: number): Promise<number> {
  let intents = 0;
  for (const run of runsOf(disk, job)) {
    await readJournal(disk.files, `/out/${job.name}/${run}/journal.ndjson`, ({ entry }) => {
      if (entry.type === 'intent') intents += 1;
    });
  }
  return Math.max(0, sent - intents);
}

function readSummary(disk: MemoryDisk, job: Job): Summary {
  const [run, ...more] = runsOf(disk, job);
  expect(more).toEqual([]);
  return JSON.parse(disk.readText(`/out/${job.name}/${run}/summary.json`));
}

function isReportedUnbegun(disk: MemoryDisk, job: Job): (run: string) => boolean {
  return (run) => {
    const files = disk.list(`/out/${job.name}/${run}`);
    return files.includes('summary.json') && !files.includes('journal.ndjson');
  };
}

function runsOf(disk: MemoryDisk, job: Job): string[] {
  return disk.list(`/out/${job.name}`).filter((name) => !name.startsWith('.') && !/^(lock-|memory-|claims)/.test(name));
}
