import { describe, expect, test } from 'vitest';
import type { Files } from '../../src/storage/files.js';
import { acquireLock } from '../../src/storage/lock.js';
import { LEASE_MS, OwnerWatch } from '../../src/storage/lock-file.js';
import { aJobDirectory, DIRECTORY, LOST } from '../run/a-job-directory.js';
import { FakeClock } from '../run/fake-clock.js';

describe('a process that stands by', () => {
  const held = { name: 'UserError', code: 'lock-held' };

  test.each([0, 120_000, -120_000])(
    'takes a lock whose file was unchanged for a lease by its own clock, however far off that of the owner is: %i ms',
    async (wallMs) => {
      const { job, owner, look, passes } = await aStandby(wallMs);
      await expect(look()).rejects.toMatchObject(held);
      for (let minutes = 0; minutes < 3; minutes++) {
        for (let renewals = 0; renewals < 4; renewals++) {
          await owner.pass(LEASE_MS / 4);
          passes(LEASE_MS / 4);
          await expect(look()).rejects.toMatchObject(held);
        }
      }
      passes(LEASE_MS - 1);
      await expect(look()).rejects.toMatchObject(held);
      passes(1);
      expect(await look()).toMatchObject({ epoch: 2 });
      expect(job.lockFiles()).toEqual(['lock-000002.json']);
    },
  );

  test('that was stopped itself begins to measure anew with the file that it then finds', async () => {
    const { owner, look, passes } = await aStandby(0);
    await expect(look()).rejects.toMatchObject(held);
    for (let renewals = 0; renewals < 8; renewals++) await owner.pass(LEASE_MS / 4);
    passes(10 * LEASE_MS);
    await expect(look()).rejects.toMatchObject(held);
    passes(LEASE_MS - 1);
    await expect(look()).rejects.toMatchObject(held);
  });

  /** Of an owner on another host, whose clock is off. */
  async function aStandby(wallMs: number) {
    const job = aJobDirectory();
    const owner = new FakeClock();
    owner.jump({ wallMs, steadyMs: 0 });
    await job.take({ owner: { host: 'b', pid: 9 }, clock: owner });
    const watch = new OwnerWatch();
    const look = () => acquireLock(job.deps(), DIRECTORY, 0, watch);
    return { job, owner, look, passes: (ms: number) => job.clock.jump({ wallMs: ms, steadyMs: ms }) };
  }
});

describe('on a network disk whose client remembers names and attributes for a minute', () => {
  test('an owner that lives keeps its lock, and one that died loses it', async () => {
    const job = aJobDirectory();
    const [one, other] = [new FakeClock(), new FakeClock()];
    const of = (pid: number, host: string, clock: FakeClock) => {
      return job.deps({ owner: { host, pid }, clock, files: rememberFor(LEASE_MS, job.files, clock) });
    };
    const [owner, standby] = [of(1, 'a', one), of(2, 'b', other)];
    const lock = await acquireLock(owner, DIRECTORY);
    await lock.attest({});
    const watch = new OwnerWatch();
    const look = () => acquireLock(standby, DIRECTORY, 0, watch);
    for (let renewals = 0; renewals < 20; renewals++) {
      await one.pass(LEASE_MS / 4);
      other.jump({ wallMs: LEASE_MS / 4, steadyMs: LEASE_MS / 4 });
      await expect(look()).rejects.toMatchObject({ code: 'lock-held' });
      await lock.assertHeld();
    }
    for (const clock of [one, other]) clock.jump({ wallMs: LEASE_MS, steadyMs: LEASE_MS });
    expect(await look()).toMatchObject({ epoch: 2, isReplaced: false });
    await expect(lock.assertHeld()).rejects.toMatchObject(LOST);
  });

  /** What others did is seen once that time is over; what is opened is as it is, and so is the place of what this client changed. */
  function rememberFor(ms: number, files: Files, clock: FakeClock): Files {
    const known = new Map<string, { atMs: number; value: unknown }>();
    const remembered = async <T>(key: string, read: () => Promise<T>): Promise<T> => {
      const before = known.get(key);
      if (before !== undefined && clock.monotonicMs() - before.atMs < ms) return before.value as T;
      const value = await read();
      known.set(key, { atMs: clock.monotonicMs(), value });
      return value;
    };
    const changing =
      <A extends [string, ...unknown[]], R>(act: (...args: A) => Promise<R>) =>
      (...args: A) => {
        known.delete(`stat ${args[0]}`);
        known.delete(`list ${DIRECTORY}`);
        return act(...args);
      };
    return {
      ...files,
      list: (path) => remembered(`list ${path}`, () => files.list(path)),
      stat: (path) => remembered(`stat ${path}`, () => files.stat(path)),
      readText: (path) => {
        known.delete(`stat ${path}`);
        return files.readText(path);
      },
      writeWhole: changing(files.writeWhole),
      createExclusive: changing(files.createExclusive),
      remove: changing(files.remove),
    };
  }
});
