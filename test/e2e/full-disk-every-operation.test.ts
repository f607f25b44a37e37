import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/clock.js';
import type { World } from '../../src/commands/world.js';
import type { Job } from '../../src/job/job.js';
import { parseJob } from '../../src/job/load.js';
import { readJournal } from '../../src/journal/reader.js';
import type { Summary } from '../../src/report/summary.js';
import { aMemoryDisk, type MemoryDisk } from '../a-memory-disk.js';
import { aCsvOf, aFolder } from '../plan/a-plan.js';
import { aFakeClock, aFakeLane, aScriptedService, duplicatesAmong } from '../run/a-run.js';
import { runInProcess } from './run-in-process.js';

const ROWS = 5;
/** A lock of which only the name could be written is free after its lease. */
const LATER_MS = 61_000;
const folder = aFolder({ 'people.csv': aCsvOf(ROWS) });

/** Lock, history, plan, journal, outputs: all that a command does on its disk, in the order in which it does it. */
test.each([
  ['EIO', 1],
  ['ENOSPC', 3],
])(
  'a disk that fails with %s in any one operation of a whole run, %i requests at once: the error is told, and the same command finishes',
  async (code, concurrency) => {
    const job = aJobOf(concurrency);
    const whole = aMemoryDisk();
    await run(job, { disk: whole, service: aScriptedService(), life: 1 });
    expect(whole.operations).toBeGreaterThan(150);
    const untold = new Set<string>();

    for (let n = 1; n <= whole.operations; n++) {
      const disk = aMemoryDisk();
      const service = aScriptedService();
      let failing = '';
      let count = 0;
      disk.onOperation = (operation) => {
        count += 1;
        if (count === n) failing = operation;
      };
      disk.failAt(n, code);
      const error = await run(job, { disk, service, life: 1 }).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      const where = `operation ${n}, ${failing}`;
      if (error === undefined) untold.add(failing);
      else expect(error, where).toMatchObject({ message: expect.stringContaining(code) });
      expect(await countUnintended(disk, job, service.sent.length), where).toBe(0);

      disk.onOperation = () => {};
      const exitCode = await run(job, { disk, service, life: 2 });
      expect([0, 3], where).toContain(exitCode);
      expect(duplicatesAmong(service.accepted), where).toEqual([]);
      const { balance, state, steps } = readSummary(disk, job);
      expect(state, where).toBe('finished');
      expect(balance, where).toMatchObject({ read: 2 * ROWS, rejected: 0, skipped: 0, unprocessed: 0 });
      expect(balance.accepted + balance.inDoubt, where).toBe(2 * ROWS);
      expect(service.accepted.length, where).toBeGreaterThanOrEqual(steps[1]?.balance.accepted ?? 0);
    }
    // Directories above that of the job need not be ours to sync.
    expect([...untold].sort()).toEqual(['open /', 'open /out', 'sync /', 'sync /out']);
  },
);

interface Life {
  readonly disk: MemoryDisk;
  readonly service: ReturnType<typeof aScriptedService>;
  readonly life: number;
}

function run(job: Job, { disk, service, life }: Life): Promise<number> {
  const world: Partial<World> = {
    files: disk.files,
    clock: { ...systemClock, now: () => Date.now() + life * LATER_MS },
    random: () => 0.5,
    owner: { host: 'here', pid: life, instance: `i${life}` },
    isProcessAlive: () => false,
    loadLane: async () => aFakeLane(aFakeClock(), async () => {}).createLane,
    loadTransport: async () => () => service.transport,
  };
  return runInProcess(job, { env: { KEY: 'k3y' }, world });
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

function runsOf(disk: MemoryDisk, job: Job): string[] {
  return disk.list(`/out/${job.name}`).filter((name) => !name.startsWith('.') && !name.startsWith('lock-'));
}
