import { expect, test } from 'vitest';
import { aJobDirectory } from '../run/a-job-directory.js';

test('the next owner learns how long ago the last one may have sent: the limit holds between two runs of a job', async () => {
  const job = aJobDirectory();
  const first = await job.take({ owner: { pid: 1 } });
  expect(first.lastOwnedMsAgo).toBeUndefined();
  await first.release();
  job.clock.wallMs += 300;
  const second = await job.take({ owner: { pid: 2 } });
  expect(second.lastOwnedMsAgo).toBe(300);
  await second.release();
  job.clock.wallMs += 300;
  const elsewhere = await job.take({ owner: { pid: 3, host: 'b' } });
  expect(elsewhere.lastOwnedMsAgo, 'by the clock of another host').toBe(0);
});

test('an owner that died may have sent just now', async () => {
  const job = aJobDirectory();
  await job.take({ owner: { pid: 1 } });
  job.dies(1);
  job.clock.wallMs += 300;
  expect((await job.take({ owner: { pid: 2 } })).lastOwnedMsAgo).toBe(0);
});

test('the next owner knows how long the files were that the last one wrote', async () => {
  const job = aJobDirectory();
  const first = await job.take();
  first.attest(() => ({ 'registry.ndjson': 700 }));
  await first.release();
  const idle = await job.take({ owner: { pid: 2 } });
  expect(idle.lastKnown).toEqual({ 'registry.ndjson': 700 });
  await idle.release();
  expect((await job.take({ owner: { pid: 3 } })).lastKnown).toEqual({ 'registry.ndjson': 700 });
});

test('an owner that has not found the job as it was left leaves what the one before it noted, however many there are', async () => {
  const job = aJobDirectory();
  const first = await job.take();
  first.attest(() => ({ 'registry.ndjson': 700 }));
  await first.release();
  const attestedAt = job.clock.now();
  for (let pid = 2; pid < 12; pid++) {
    job.clock.wallMs += 100_000;
    const refused = await job.take({ owner: { pid } });
    expect([refused.lastKnown, refused.lastAttestedAt]).toEqual([{ 'registry.ndjson': 700 }, attestedAt]);
    await refused.release();
  }
});

test('a lock file that was put back in place of the last one is known by the file that it names, also behind owners that refused', async () => {
  const job = aJobDirectory();
  const first = await job.take();
  const held = JSON.stringify(job.read(1));
  first.attest(() => ({}));
  await first.release();
  job.put(1, held);
  job.dies(1);
  for (let pid = 2; pid < 12; pid++) {
    const next = await job.take({ owner: { pid } });
    expect(next.isReplaced).toBe(true);
    await next.release();
  }
  const adopting = await job.take({ owner: { pid: 12 } });
  adopting.attest(() => ({}));
  await adopting.release();
  expect((await job.take({ owner: { pid: 13 } })).isReplaced).toBe(false);
});
