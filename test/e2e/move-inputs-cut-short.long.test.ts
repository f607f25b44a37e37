import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseJob } from '../../src/job/load.js';
import { systemClock } from '../../src/ports/clock.js';
import { type Files, nodeFiles } from '../../src/storage/files.js';
import { aFastDirectory } from '../hostile/a-fast-directory.js';
import { stepsOf } from '../one-in.js';
import { aFakeClock, aFakeLane, aScriptedService, duplicatesAmong } from '../run/a-run.js';
import { people } from './a-job.js';
import { aDiskOf, deathOf } from './a-mortal-command.js';
import { runInProcess } from './run-in-process.js';

/** One operation in eighty with each commit, and one in four from where the registry has the run's end to where the last file is moved. */
const { first, step } = stepsOf(80);
/** A lock of which only the name could be written is free after its lease. */
const LATER_MS = 61_000;
/** The last has the name of the first, which is sent and moved before. */
const FILES = { 'inbox/monday.csv': people(2, 10), 'inbox/tuesday.csv': people(2, 20), 'sent/monday.csv': people(1) };

/** A disk on which nothing is done any more from its n-th operation on; that one, if it writes, is half done. */
function aDyingDisk(deathAt: number) {
  const seen: string[] = [];
  const disk = aDiskOf(async (name, act, tear) => {
    seen.push(name);
    if (seen.length === deathAt) await tear?.();
    if (seen.length >= deathAt) throw deathOf(name);
    return act();
  });
  return { ...disk, seen };
}

async function aLife(directory: string, service: ReturnType<typeof aScriptedService>, deathAt: number, life: number) {
  const disk = aDyingDisk(deathAt);
  const exitCode = await aRun(directory, service, { files: disk.files, life }).catch(() => undefined);
  await disk.close();
  return { exitCode, seen: disk.seen };
}

function aRun(
  directory: string,
  service: ReturnType<typeof aScriptedService>,
  { files, life }: { files: Files; life: number },
): Promise<number> {
  const step = {
    kind: 'sms',
    input: { files: 'inbox/*.csv', whenDone: { moveTo: 'sent' } },
    destination: 'mobile',
    template: { text: 'Hi' },
  };
  const bases = { sms: 'http://127.0.0.1:1' };
  const written = {
    service: { account: 'acme', bases, credentials: { apiKey: { env: 'KEY' } } },
    steps: [step],
  };
  const job = parseJob(JSON.stringify({ name: 'sale', ...written }), join(directory, 'job.yaml'));
  const runtime = {
    files,
    clock: { ...systemClock, now: () => Date.now() + life * LATER_MS },
    random: () => 0.5,
    owner: { host: 'here', pid: life, instance: `i${life}` },
    isProcessAlive: () => false,
    loadLane: async () => aFakeLane(aFakeClock(), async () => {}).createLane,
    loadTransport: async () => () => service.transport,
  };
  return runInProcess(job, { env: { KEY: 'k3y' }, runtime });
}

function aDirectory(): string {
  const { directory, remove } = aFastDirectory();
  onTestFinished(remove);
  for (const name of ['inbox', 'sent']) mkdirSync(join(directory, name));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(directory, name), text);
  return directory;
}

/** What lies in a directory; a name that was reserved for a file may be left, empty. */
const textsIn = (directory: string) =>
  readdirSync(directory)
    .map((name) => readFileSync(join(directory, name), 'utf8'))
    .filter((text) => text !== '')
    .sort();

test('a run that ends at any operation on the disk loses no file: the next one moves all that is sent, and sends nothing twice', async () => {
  const whole = await aLife(aDirectory(), aScriptedService(), Number.POSITIVE_INFINITY, 1);
  expect(whole.exitCode).toBe(0);
  const isMove = (name: string) => name.startsWith('rename') && name.includes('/inbox/');
  expect(whole.seen.filter(isMove)).toHaveLength(2);
  const movedAt = whole.seen.findLastIndex(isMove) + 6;
  const endsAt = whole.seen.findLastIndex((name) => name.startsWith('rename') && name.includes('/memory-'));
  const all = Object.values(FILES).sort();

  for (const [at, operation] of whole.seen.entries()) {
    const deathAt = at + 1;
    const isMoving = deathAt >= endsAt && deathAt <= movedAt;
    const apart = isMoving ? Math.min(4, step) : step;
    if (deathAt % apart !== first % apart) continue;
    const where = `operation ${deathAt}, ${operation}`;
    const directory = aDirectory();
    const [inbox, sent] = [join(directory, 'inbox'), join(directory, 'sent')];
    const service = aScriptedService();
    await aLife(directory, service, deathAt, 1);
    expect([...textsIn(inbox), ...textsIn(sent)].sort(), where).toEqual(all);
    const { exitCode } = await aLife(directory, service, Number.POSITIVE_INFINITY, 2);
    expect([0, 3], where).toContain(exitCode);
    expect([textsIn(inbox), textsIn(sent)], where).toEqual([[], all]);
    expect(duplicatesAmong(service.accepted), where).toEqual([]);
    rmSync(directory, { recursive: true });
  }
});

test('a file that was moved although the disk reports an error is not lost', async () => {
  const directory = aDirectory();
  const rename: Files['rename'] = async (from, to) => {
    await nodeFiles.rename(from, to);
    if (from.includes('/inbox/')) throw Object.assign(new Error('EIO'), { code: 'EIO' });
  };
  expect(await aRun(directory, aScriptedService(), { files: { ...nodeFiles, rename }, life: 1 })).toBe(0);
  expect(textsIn(join(directory, 'sent'))).toEqual(Object.values(FILES).sort());
});
