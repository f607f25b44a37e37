import { describe, expect, test } from 'vitest';
import { acquireLock } from '../../src/storage/lock.js';
import { LEASE_MS, OwnerWatch } from '../../src/storage/lock-file.js';
import { aJobDirectory, DIRECTORY } from '../run/a-job-directory.js';
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
