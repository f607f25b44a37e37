import { expect, test } from 'vitest';
import { watchJournal } from '../../src/registry/find-faults.js';
import type { Files } from '../../src/storage/files.js';
import { aJobDirectory, DIRECTORY, LOST } from '../run/a-job-directory.js';
import { FakeClock } from '../run/fake-clock.js';

const JOURNAL = `${DIRECTORY}/run/journal.ndjson`;

/** The lock of a runner that watches its journal; `during` happens while it looks at a file. */
async function aWatchedLock(during: (path: string) => Promise<void> = async () => {}) {
  const job = aJobDirectory();
  await job.files.makeDirectory(`${DIRECTORY}/run`);
  await job.files.writeWhole(JOURNAL, 'a line\n');
  const files: Files = {
    ...job.files,
    stat: async (path) => {
      await during(path);
      return job.files.stat(path);
    },
  };
  return { job, lock: watchJournal(files, JOURNAL, await job.take({ owner: { pid: 1, host: 'a' } })) };
}

test('a runner that sleeps over its look at the journal finds on waking that another has taken the lock', async () => {
  const ahead = new FakeClock();
  let isAsleep = false;
  const { job, lock } = await aWatchedLock(async () => {
    if (isAsleep) await job.take({ clock: ahead, owner: { pid: 2, host: 'b' } });
  });
  await lock.assertHeld();
  // Of a host whose clock is ours and more than a lease: it takes over while our own lease is fresh.
  ahead.wallMs += 120_000;
  isAsleep = true;
  await expect(lock.assertHeld()).rejects.toMatchObject(LOST);
});

test('a runner stops once its journal is removed, or another file stands in its place', async () => {
  const { job, lock } = await aWatchedLock();
  await lock.assertHeld();
  await job.files.remove(JOURNAL);
  const expected = { code: 'registry-mismatch', message: expect.stringContaining('removed') };
  await expect(lock.assertHeld()).rejects.toMatchObject(expected);
  await job.files.writeWhole(JOURNAL, 'a line\n');
  const code = 'registry-mismatch';
  await expect(lock.assertHeld()).rejects.toMatchObject({ code, message: expect.stringContaining('replaced') });
});
