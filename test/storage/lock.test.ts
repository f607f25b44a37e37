import { describe, expect, test } from 'vitest';
import type { Files } from '../../src/storage/files.js';
import { acquireLock, type Lock, readLockOwner } from '../../src/storage/lock.js';
import { LEASE_MS } from '../../src/storage/lock-file.js';
import { aJobDirectory, DIRECTORY, LOST, pathOf } from '../run/a-job-directory.js';
import { FakeClock } from '../run/fake-clock.js';
import { aMemoryDisk } from './a-memory-disk.js';

describe('taking the lock', () => {
  test('of a job that no one holds gives epoch 1, and makes the directory', async () => {
    const job = aJobDirectory();
    const lock = await acquireLock(job.deps(), '/out/other/new');
    expect(lock.epoch).toBe(1);
    await lock.assertHeld();
    expect(await readLockOwner(job.deps(), '/out/other/new')).toMatchObject({ host: 'a', pid: 1 });
  });

  test('gives it to exactly one of eight that take it at once', async () => {
    for (const isReleased of [false, true]) {
      const job = aJobDirectory();
      if (isReleased) await (await job.take()).release();
      const pids = [11, 12, 13, 14, 15, 16, 17, 18];
      const taken = await Promise.allSettled(pids.map((pid) => job.take({ owner: { pid } })));
      const locks = taken.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      expect(locks.map((lock) => lock.epoch)).toEqual([isReleased ? 2 : 1]);
      for (const result of taken) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ name: 'UserError', code: 'lock-held' });
      }
    }
  });

  test('that was released gives the next epoch, and clears away the one before', async () => {
    const job = aJobDirectory();
    for (const epoch of [1, 2, 3]) {
      const lock = await job.take({ owner: { pid: epoch } });
      expect(lock.epoch).toBe(epoch);
      expect(job.lockFiles()).toEqual([`lock-00000${epoch}.json`]);
      await lock.release();
    }
    expect(await readLockOwner(job.deps(), DIRECTORY)).toBeUndefined();
  });

  test('is refused while its process lives, and the refusal names that process and its host', async () => {
    const job = aJobDirectory();
    await job.take({ owner: { pid: 41, host: 'a/boot/ns' } });
    await expect(job.take({ owner: { pid: 42, host: 'a/boot/ns' } })).rejects.toMatchObject({
      code: 'lock-held',
      message: 'Cannot run this job: process 41 on a is running it',
      hint: expect.stringContaining('60 s'),
    });
    expect(job.lockFiles()).toEqual(['lock-000001.json']);
  });

  test('is refused to the very process that holds it', async () => {
    const job = aJobDirectory();
    await job.take();
    await expect(job.take()).rejects.toMatchObject({ code: 'lock-held' });
  });

  test('is given at once when its process is dead on this host', async () => {
    const job = aJobDirectory();
    await job.take({ owner: { pid: 41 } });
    job.dies(41);
    expect((await job.take({ owner: { pid: 42 } })).epoch).toBe(2);
  });

  test('is given at once when its holder had our host and process number: a container that was started again', async () => {
    const job = aJobDirectory();
    await job.take({ owner: { pid: 1, instance: 'before' } });
    expect((await job.take({ owner: { pid: 1, instance: 'after' } })).epoch).toBe(2);
  });

  test.each([
    ['a process of that number is dead here', true],
    ['a process of that number lives here', false],
  ])('of another host is refused until its lease has ended, when %s', async (_, isDead) => {
    const job = aJobDirectory();
    await job.take({ owner: { host: 'b', pid: 41 }, clock: new FakeClock() });
    if (isDead) job.dies(41);
    job.clock.jump({ wallMs: LEASE_MS - 1, steadyMs: 0 });
    await expect(job.take({ owner: { pid: 42 } })).rejects.toMatchObject({
      message: 'Cannot run this job: process 41 on b is running it',
      hint: expect.stringContaining('free in 1 s'),
    });
    job.clock.jump({ wallMs: 1, steadyMs: 0 });
    expect((await job.take({ owner: { pid: 42 } })).epoch).toBe(2);
  });

  test('of another host whose clock is far ahead is refused with the way that takes no notice of its clock', async () => {
    const job = aJobDirectory();
    const ahead = new FakeClock();
    ahead.jump({ wallMs: 24 * 60 * LEASE_MS, steadyMs: 0 });
    await job.take({ owner: { host: 'b', pid: 41 }, clock: ahead });
    const expected = { code: 'lock-held', hint: expect.stringContaining('`--standby` of run and apply takes over') };
    await expect(job.take({ owner: { pid: 42 } })).rejects.toMatchObject(expected);
  });

  test.each([
    ['torn', '{"host":"b","pi'],
    ['empty, as its taker died, or a disk was full, before it was written', ''],
    ['something else', '[]'],
    ['without an owner', JSON.stringify({ renewedAt: 1_800_000_000_000, state: 'held' })],
  ])('whose file is %s is refused until a lease has passed since it was made', async (_, text) => {
    const job = aJobDirectory();
    job.put(7, text);
    job.clock.jump({ wallMs: LEASE_MS - 1, steadyMs: 0 });
    await expect(job.take()).rejects.toMatchObject({
      code: 'lock-held',
      message: 'Cannot run this job: another process is starting it, or died while it did',
      hint: expect.stringContaining('free in 1 s'),
    });
    expect(await readLockOwner(job.deps(), DIRECTORY)).toBeDefined();
    job.clock.jump({ wallMs: 1, steadyMs: 0 });
    expect(await readLockOwner(job.deps(), DIRECTORY)).toBeUndefined();
    expect((await job.take()).epoch).toBe(8);
  });

  test('is refused while its owner, whose clock is behind, writes its file just when another reads it: no one put back another', async () => {
    const job = aJobDirectory();
    const owner = await job.take({ owner: { host: 'b' }, clock: new FakeClock() });
    job.clock.jump({ wallMs: LEASE_MS, steadyMs: 0 });
    const files: Files = {
      ...job.files,
      stat: async (path) => {
        if (path.endsWith('lock-000001.json')) await owner.attest({});
        return job.files.stat(path);
      },
    };
    await expect(job.take({ files, owner: { pid: 42 } })).rejects.toMatchObject({ code: 'lock-held' });
    expect(job.lockFiles()).toEqual(['lock-000001.json']);
    await owner.assertHeld();
  });

  test.each(['open', 'write', 'sync'])(
    'that a full disk does not let be written (%s) is not there, and free at once',
    async (operation) => {
      const disk = aMemoryDisk();
      const deps = { ...aJobDirectory().deps(), files: disk.files };
      disk.onOperation = (each) => {
        if (each !== `${operation} ${DIRECTORY}/lock-000001.json`) return;
        disk.onOperation = () => {};
        disk.failAt(1, 'ENOSPC');
      };
      await expect(acquireLock(deps, DIRECTORY)).rejects.toThrow('ENOSPC');
      expect(disk.list(DIRECTORY)).toEqual([]);
      expect((await acquireLock(deps, DIRECTORY)).epoch).toBe(1);
    },
  );

  test('fails when others took and released it, twice, between the look and the taking', async () => {
    const job = aJobDirectory();
    await (await job.take({ owner: { pid: 2 } })).release();
    const meanwhile: Lock[] = [];
    const slow: Files = {
      ...job.files,
      createExclusive: async (path, text) => {
        for (const pid of [3, 4, 5]) {
          await meanwhile.at(-1)?.release();
          meanwhile.push(await job.take({ owner: { pid } }));
        }
        return job.files.createExclusive(path, text);
      },
    };
    await expect(job.take({ files: slow })).rejects.toMatchObject({ code: 'lock-held' });
    await meanwhile.at(-1)?.assertHeld();
    expect(job.lockFiles()).toEqual(['lock-000004.json']);
  });

  test('leaves files alone that are no locks', async () => {
    const job = aJobDirectory();
    await job.files.writeWhole(`${DIRECTORY}/lock-9.json.bak`, 'x');
    expect((await job.take()).epoch).toBe(1);
    expect(job.lockFiles()).toEqual(['lock-000001.json', 'lock-9.json.bak']);
  });
});

describe('holding the lock', () => {
  test('lasts as long as it is renewed', async () => {
    const job = aJobDirectory();
    const lock = await job.take();
    for (let minute = 0; minute < 10; minute++) {
      for (let quarter = 0; quarter < 4; quarter++) await job.clock.pass(15_000);
      await lock.assertHeld();
      expect(job.read(1)).toMatchObject({ epoch: 1, state: 'held', renewedAt: job.clock.now() });
      await expect(job.take({ owner: { host: 'b', pid: 2 } })).rejects.toMatchObject({ code: 'lock-held' });
    }
  });

  test.each([
    ['a paused process: both clocks go on', { wallMs: 60_000, steadyMs: 60_000 }],
    ['a suspended machine: the steady clock stands still', { wallMs: 60_000, steadyMs: 0 }],
    ['a wall clock that was set back meanwhile', { wallMs: -3_600_000, steadyMs: 60_000 }],
  ])('ends with the lease, after %s', async (_, jump) => {
    const job = aJobDirectory();
    const lock = await job.take();
    job.clock.jump(jump);
    expect(() => lock.assertFresh()).toThrow(expect.objectContaining(LOST));
    await expect(lock.assertHeld()).rejects.toMatchObject(LOST);
  });

  test('ends well before others may take it over', async () => {
    const job = aJobDirectory();
    const lock = await job.take();
    job.clock.jump({ wallMs: LEASE_MS - 10_000, steadyMs: LEASE_MS - 10_000 });
    lock.assertFresh();
    job.clock.jump({ wallMs: 1, steadyMs: 1 });
    expect(() => lock.assertFresh()).toThrow(expect.objectContaining(LOST));
    await expect(job.take({ owner: { host: 'b', pid: 2 } })).rejects.toMatchObject({ code: 'lock-held' });
  });

  test('is not won back by a runner that wakes after its lease', async () => {
    const job = aJobDirectory();
    const lock = await job.take();
    const written = job.read(1);
    await job.clock.pass(120_000);
    expect(() => lock.assertFresh()).toThrow();
    expect(job.read(1)).toEqual(written);
  });

  test('ends when the machine was suspended while the lock was taken', async () => {
    const job = aJobDirectory();
    const slow: Files = {
      ...job.files,
      createExclusive: async (path, text) => {
        const isMade = await job.files.createExclusive(path, text);
        job.clock.jump({ wallMs: 120_000, steadyMs: 0 });
        return isMade;
      },
    };
    const lock = await job.take({ files: slow });
    expect(() => lock.assertFresh()).toThrow(expect.objectContaining(LOST));
  });

  test('ends as soon as a higher epoch stands', async () => {
    const job = aJobDirectory();
    const lock = await job.take({ owner: { pid: 1, instance: 'before' } });
    await job.take({ owner: { pid: 1, instance: 'after' } });
    lock.assertFresh();
    await expect(lock.assertHeld()).rejects.toMatchObject(LOST);
  });

  test('ends when its file is gone, whichever process removed it', async () => {
    const job = aJobDirectory();
    const lock = await job.take();
    await job.files.remove(pathOf(1));
    const gone = { code: 'registry-mismatch', message: expect.stringContaining('is gone, or its lock file') };
    await expect(lock.assertHeld()).rejects.toMatchObject(gone);
    expect(() => lock.assertFresh()).toThrow(expect.objectContaining(gone));
  });

  test('outlives one renewal that fails, and ends when none succeeds', async () => {
    const job = aJobDirectory();
    let isFull = false;
    const files: Files = {
      ...job.files,
      writeWhole: async (path, text) => {
        if (isFull) throw new Error('ENOSPC');
        return job.files.writeWhole(path, text);
      },
    };
    const lock = await job.take({ files });
    isFull = true;
    await job.clock.pass(15_000);
    isFull = false;
    await job.clock.pass(15_000);
    await job.clock.pass(15_000);
    await job.clock.pass(15_000);
    await lock.assertHeld();
    isFull = true;
    for (let quarter = 0; quarter < 4; quarter++) await job.clock.pass(15_000);
    await expect(lock.assertHeld()).rejects.toMatchObject(LOST);
  });
});

describe('releasing the lock', () => {
  test('frees the job at once, also for another host', async () => {
    const job = aJobDirectory();
    await (await job.take()).release();
    expect(job.read(1)).toMatchObject({ state: 'released', pid: 1 });
    expect((await job.take({ owner: { host: 'b', pid: 2 } })).epoch).toBe(2);
  });

  test('ends the renewals', async () => {
    const job = aJobDirectory();
    const lock = await job.take();
    await lock.release();
    await job.clock.pass(60_000);
    expect(job.read(1).state).toBe('released');
  });

  test('by a runner that was ousted does no harm to the one that holds it', async () => {
    const job = aJobDirectory();
    const old = await job.take({ owner: { host: 'b', pid: 1 } });
    job.clock.jump({ wallMs: LEASE_MS, steadyMs: LEASE_MS });
    const held = await job.take({ owner: { pid: 2 } });
    await old.release();
    await held.assertHeld();
    expect(await readLockOwner(job.deps(), DIRECTORY)).toMatchObject({ host: 'a', pid: 2 });
    await expect(job.take({ owner: { host: 'b', pid: 3 } })).rejects.toMatchObject({ code: 'lock-held' });
  });
});
