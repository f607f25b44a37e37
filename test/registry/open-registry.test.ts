import { createFsFromVolume, Volume } from 'memfs';
import { describe, expect, test } from 'vitest';
import { writeRunFile } from '../../src/plan/format/run-record.js';
import { readSealed, sealJson } from '../../src/plan/format/sealed-json.js';

import { openRegistry } from '../../src/registry/open-registry.js';
import type { Registry } from '../../src/registry/registry.js';
import { createRandom } from '../../src/sandbox/random.js';
import { createFiles, type Files, type RawFiles } from '../../src/storage/files.js';
import { acquireLock } from '../../src/storage/lock.js';
import { FakeClock } from '../run/fake-clock.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';
import { CrashDisk } from '../world/crash-disk.js';
import { createSimFiles, type Perform } from '../world/sim-files.js';
import { memoriesAmong } from './memory-on-disk.js';
import { aLock, begun, claimsOf, documentOf, JOB, MISMATCH, open, openOn, PATH } from './open-memory.js';

type Change = (registry: Registry) => Promise<void>;

describe('the memory of a job', () => {
  test('is made where there is none, and read as it was written; opening it again changes nothing', async () => {
    const disk = aMemoryDisk();
    const notices: string[] = [];
    await open(disk, { notices });
    const text = disk.readText(PATH);
    expect(readSealed(text)).toMatchObject({ format: 1, revision: 1, directory: { path: JOB }, runs: [], claims: {} });
    await open(disk, { lock: aLock(1, 7) });
    expect([disk.list(JOB), disk.readText(PATH), notices]).toEqual([['memory-000001.json'], text, []]);
  });

  test('has all that it is given, for the next owner, in a file of its epoch, and the older file goes', async () => {
    const disk = aMemoryDisk();
    await (await open(disk)).note('p', { approved: [{ at: 1, by: 'ann', planSha256: '', name: 'ann' }] });
    const second = await open(disk, { lock: aLock(2, 5) });
    await second.note('p', { begun });
    await second.write({ claims: [claimsOf('q')] });
    expect(memoriesAmong(disk.list(JOB))).toEqual(['memory-000005.json']);

    const { state } = await open(disk, { lock: aLock(4, 6) });

    expect(state.recordOf('p')).toMatchObject({ approved: [{ by: 'ann' }], begun: { retryOf: 'other' } });
    expect(state.claims.countOf('q')).toBe(3);
  });

  test('of an epoch that the lock, whose files were deleted, is behind gets one above all the same', async () => {
    const disk = aMemoryDisk();
    await (await open(disk, { lock: aLock(undefined, 57) })).note('p', { begun });
    await (await open(disk, { lock: aLock(2, 1) })).note('q', { begun });
    expect(memoriesAmong(disk.list(JOB))).toEqual(['memory-000058.json']);
    const files = createFiles(
      createFsFromVolume(Volume.fromJSON({ '/job/.keep': '' })).promises as unknown as RawFiles,
    );
    const owner = { host: 'a', pid: 1, instance: 'x' };
    const taken = await acquireLock({ files, clock: new FakeClock(), owner, isProcessAlive: () => true }, '/job', 57);
    expect(taken.epoch).toBe(58);
    await taken.release();
  });

  test('that is older than the last owner noted, or gone, is refused until a person adopts it', async () => {
    const disk = aMemoryDisk();
    await open(disk);
    const lock = aLock(3);
    await expect(open(disk, { lock })).rejects.toMatchObject(MISMATCH);
    const gone = aMemoryDisk();
    await expect(open(gone, { lock })).rejects.toMatchObject(MISMATCH);
    expect(gone.has(PATH)).toBe(false);
    await open(disk, { lock, adoptedBy: 'ann on desk-7' });
    expect(documentOf(disk, 2)).toMatchObject({ revision: 4, adopted: [{ by: 'ann on desk-7' }] });
  });

  test('that is older than what a run knows of itself, and is adopted, takes nothing back of it', async () => {
    const disk = aMemoryDisk();
    await open(disk);
    const run = `${JOB}/2026-11-22T0930-k3v9q2m8x4aa`;
    await disk.files.makeDirectory(run);
    await writeRunFile(disk.files, run, { plan: 'k3v9q2m8x4aa', abandoned: { at: 1, by: 'ann' } });
    expect((await open(disk, { lock: aLock(3), adoptedBy: 'bob' })).state.isAbandoned('k3v9q2m8x4aa')).toBe(true);
    expect(documentOf(disk, 2).runs).toMatchObject([{ plan: 'k3v9q2m8x4aa', abandoned: { by: 'ann' } }]);
  });

  test('leaves a backup that a person made beside it', async () => {
    const disk = aMemoryDisk();
    await open(disk);
    disk.write(`${PATH}.bak`, disk.readText(PATH));
    disk.write(`${PATH}.7.part`, 'x');
    await (await open(disk, { lock: aLock(1, 2) })).note('p', { begun });
    const expected = ['memory-000001.json.bak', 'memory-000002.json'];
    expect(
      disk
        .list(JOB)
        .filter((name) => name.startsWith('memory-'))
        .sort(),
    ).toEqual(expected);
  });

  test('that another owner of the lock wrote to meanwhile is not called a copy: the lock is lost', async () => {
    const disk = aMemoryDisk();
    await open(disk);
    const lock = { ...aLock(3), assertHeld: () => Promise.reject(new Error('this process lost its lock')) };
    const text = disk.readText(PATH);
    await expect(open(disk, { lock })).rejects.toThrow('lost its lock');
    await expect(open(disk, { lock, adoptedBy: 'ann on desk-7' })).rejects.toThrow('lost its lock');
    expect(disk.readText(PATH)).toBe(text);
  });

  test.each([
    ['a bit was flipped', (text: string) => text.replace('/out/sale', '/out/sala')],
    ['the end was cut off', (text: string) => text.slice(0, -2)],
    ['nothing is left', () => ''],
    ['the name says another epoch', (text: string) => sealJson({ ...readSealed(text), epoch: 2 })],
  ])('of which %s is refused, whatever the lock knows, with and without --adopt', async (_what, damage) => {
    const disk = aMemoryDisk();
    await open(disk);
    disk.write(PATH, damage(disk.readText(PATH)));
    for (const opening of [{}, { lock: aLock(1) }, { adoptedBy: 'ann' }])
      await expect(open(disk, opening)).rejects.toThrow(`Cannot use ${PATH}: it is damaged`);
  });

  test('of another format is refused by name', async () => {
    const disk = aMemoryDisk();
    await open(disk);
    disk.write(PATH, sealJson({ ...documentOf(disk), format: 2 }));
    await expect(open(disk)).rejects.toThrow('its format is 2, expected 1');
  });

  test.each([
    ['before', ['mine']],
    ['once', ['late', 'mine']],
  ])(
    'takes back nothing that its next owner wrote, where one was paused %s its file got its name',
    async (when, known) => {
      const volume = Volume.fromJSON({ [`${JOB}/.keep`]: '' });
      const raw = createFsFromVolume(volume).promises as unknown as RawFiles;
      let isPausing = false;
      let wake = () => {};
      const paused = new Promise<void>((resolve) => {
        wake = resolve;
      });
      let isReached = () => {};
      const reached = new Promise<void>((resolve) => {
        isReached = resolve;
      });
      const rename: RawFiles['rename'] = async (from, to) => {
        const isPaused = isPausing && String(to).includes('/memory-');
        if (isPaused && when === 'once') await raw.rename(from, to);
        if (isPaused) {
          isReached();
          await paused;
        }
        if (!isPaused || when === 'before') await raw.rename(from, to);
      };
      const slow = createFiles(
        new Proxy(raw, { get: (of, key) => (key === 'rename' ? rename : Reflect.get(of, key)) }),
        '.1',
      );
      const start = async (files: Files, pid: number, aheadMs: number) => {
        const clock = new FakeClock();
        clock.jump({ wallMs: aheadMs, steadyMs: 0 });
        const deps = { files, clock, owner: { host: `h${pid}`, pid, instance: `i${pid}` }, isProcessAlive: () => true };
        const lock = await acquireLock(deps, JOB);
        return { lock, registry: await openRegistry(deps, { jobDirectory: JOB, lock, onNotice: () => {} }) };
      };
      const first = await start(slow, 1, 0);
      isPausing = true;
      const late = first.registry.note('late', { begun });
      late.catch(() => {});
      await reached;
      const second = await start(createFiles(raw, '.2'), 2, 100_000);
      await second.registry.note('mine', { begun });

      wake();

      await expect(late).rejects.toMatchObject({ code: 'lock-held' });
      expect(first.registry.find('late')).toBeUndefined();
      await second.lock.release();
      const third = await start(createFiles(raw, '.3'), 3, 200_000);
      expect([...third.registry.state.runs.keys()]).toEqual(known);
      await third.registry.note('mine', { pruned: { at: 1, by: 'ann' } });
      const names = volume.readdirSync(JOB).map(String);
      expect(memoriesAmong(names)).toEqual(['memory-000003.json']);
    },
  );

  test('whose disk fails at any operation is an error, and whole at the next', async () => {
    const count = await countOperations();
    expect(count).toBeGreaterThan(5);
    for (let n = 1; n <= count; n++) {
      const disk = aMemoryDisk();
      await disk.files.makeDirectory(JOB);
      disk.failAt(n);
      const failed = await open(disk).catch((error) => error.code);
      expect(['EIO', undefined], `operation ${n}`).toContain(typeof failed === 'string' ? failed : undefined);
      await open(disk);
      expect(documentOf(disk).revision, `after operation ${n}`).toBe(1);
    }
  });
});

describe('a power cut, or a kill, at each operation of a change', () => {
  const changes: [string, Change, (registry: Registry) => boolean][] = [
    ['a run begins', (registry) => registry.note('p', { begun }), ({ state }) => state.runs.has('p')],
    [
      'rows are claimed',
      (registry) => registry.write({ claims: [claimsOf('p')] }),
      ({ state }) => state.claims.countOf('p') > 0,
    ],
    [
      'a run is pruned',
      (registry) => registry.note('old', { pruned: { at: 1, by: 'ann' } }),
      ({ state }) => state.recordOf('old').pruned !== undefined,
    ],
  ];

  /** Undefined: it died. */
  async function dieAt(death: number, disk: CrashDisk, change: Change): Promise<true | undefined> {
    let left = Number.POSITIVE_INFINITY;
    let die = (_: undefined) => {};
    const dead = new Promise<undefined>((resolve) => {
      die = resolve;
    });
    const files = filesOn(disk, async (_name, act, tear) => {
      left -= 1;
      if (left > 0) return act();
      if (left === 0) tear?.();
      die(undefined);
      return new Promise(() => {});
    });
    const registry = await openOn(files, { lock: aLock(2, 2) });
    left = death;
    return Promise.race([change(registry).then(() => true as const), dead]);
  }

  test.each(changes)(
    '%s: what was durable before is there, and all of the change or nothing of it; once it was said to be done, all',
    async (_what, change, has) => {
      let deaths = 0;
      for (const kind of ['power', 'kill'] as const) {
        for (let death = 1, isDone: true | undefined; isDone === undefined; death++) {
          const disk = new CrashDisk();
          const files = filesOn(disk, async (_name, act) => act());
          await files.makeDirectory(`${JOB}/old`);
          await (await openOn(files)).note('old', { begun: { ...begun, name: 'old' } });
          isDone = await dieAt(death, disk, change);
          if (kind === 'power') disk.cutPower(createRandom(death));
          const where = `${kind} at operation ${death}`;
          const next = await openOn(files, { lock: aLock(isDone ? 3 : 2, 3) });
          expect(next.state.runs.has('old'), where).toBe(true);
          if (isDone) expect(has(next), where).toBe(true);
          await change(next);
          const last = await openOn(files, { lock: aLock(3, 4) });
          expect([has(last), last.state.runs.has('old')], where).toEqual([true, true]);
          deaths = death;
        }
        expect(deaths).toBeGreaterThan(8);
      }
    },
  );
});

function filesOn(disk: CrashDisk, perform: Perform): Files {
  return createSimFiles(disk, perform, { pid: 1, nowMs: () => 1 });
}

async function countOperations(): Promise<number> {
  const disk = aMemoryDisk();
  await disk.files.makeDirectory(JOB);
  const before = disk.operations;
  await open(disk);
  return disk.operations - before;
}
