import { describe, expect, test } from 'vitest';
import type { Files } from '../../src/storage/files.js';
import type { Lock } from '../../src/storage/lock.js';
import { LEASE_MS } from '../../src/storage/lock-file.js';
import { aJobDirectory, LOST, pathOf } from './a-job-directory.js';
import { FakeClock } from './fake-clock.js';

describe('a runner that was ousted twice: its clock is behind, and the file of the second epoch is gone again', () => {
  /** Process 1 on host b holds the job; 2 takes it over, and releases; 3 takes it. */
  async function ousted(files?: (files: Files) => Files) {
    const job = aJobDirectory();
    const behind = new FakeClock();
    const changes = files === undefined ? {} : { files: files(job.files) };
    const old = await job.take({ owner: { host: 'b', pid: 1 }, clock: behind, ...changes });
    const takeTwice = async () => {
      job.clock.jump({ wallMs: LEASE_MS, steadyMs: LEASE_MS });
      await (await job.take({ owner: { pid: 2 } })).release();
      return job.take({ owner: { pid: 3 } });
    };
    return { job, behind, old, takeTwice };
  }

  test('knows that it lost its lock', async () => {
    const { old, takeTwice } = await ousted();
    const held = await takeTwice();
    old.assertFresh();
    await expect(old.assertHeld()).rejects.toMatchObject(LOST);
    await held.assertHeld();
  });

  test('clears away the lowest epoch first: a file that another has followed never stands without the next', async () => {
    const job = aJobDirectory();
    for (const epoch of [1, 2, 3])
      job.put(epoch, JSON.stringify({ host: 'a', pid: 1, renewedAt: 0, state: 'released' }));
    const removed: string[] = [];
    const files: Files = { ...job.files, remove: async (path) => void removed.push(path) };
    await job.take({ owner: { pid: 4 }, files });
    expect(removed).toEqual([1, 2, 3].map(pathOf));
  });

  test('does not make its file anew when it renews its lease, nor when it releases', async () => {
    const { job, behind, old, takeTwice } = await ousted();
    const held = await takeTwice();
    await behind.pass(15_000);
    expect(job.lockFiles()).toEqual(['lock-000003.json']);
    await old.release();
    expect(job.lockFiles()).toEqual(['lock-000003.json']);
    await held.assertHeld();
  });

  test.each(['renews', 'releases'])('takes its file away again where it was ousted just as it %s', async (what) => {
    let takes: (() => Promise<Lock>) | undefined;
    let meanwhile: unknown;
    const { job, behind, old, takeTwice } = await ousted((files) => ({
      ...files,
      writeWhole: async (path, text) => {
        const take = takes;
        takes = undefined;
        await take?.();
        await files.writeWhole(path, text);
        if (take !== undefined) await old.assertHeld().catch((error) => (meanwhile = error));
      },
    }));
    takes = takeTwice;
    if (what === 'renews') await behind.pass(15_000);
    else await old.release();
    expect(meanwhile).toMatchObject(LOST);
    expect(job.lockFiles()).toEqual(['lock-000003.json']);
    await expect(old.assertHeld()).rejects.toMatchObject(LOST);
  });

  test('leaves a file alone that has its name and is of another: epochs began anew', async () => {
    const { job, behind, old } = await ousted();
    await job.files.remove(pathOf(1));
    await job.take({ owner: { pid: 2 } });
    const written = job.read(1);
    await behind.pass(15_000);
    await old.release();
    expect(job.read(1)).toEqual(written);
  });
});
