import { describe, expect, test } from 'vitest';
import { aJobDirectory, LOST, pathOf } from '../run/a-job-directory.js';

const memory = 'memory';

/** Its first owner, 1, has found the job as it was left, with files that are so long. */
async function anAttestedJob(lengths: Readonly<Record<string, number>> = {}) {
  const job = aJobDirectory();
  const first = await job.take();
  await first.attest(lengths);
  return { job, first };
}

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
  expect((await job.take({ owner: { pid: 3, host: 'b' } })).lastOwnedMsAgo, 'by the clock of another host').toBe(0);
});

test('an owner that died may have sent just now', async () => {
  const job = aJobDirectory();
  await job.take({ owner: { pid: 1 } });
  job.dies(1);
  job.clock.wallMs += 300;
  expect((await job.take({ owner: { pid: 2 } })).lastOwnedMsAgo).toBe(0);
});

test('the next owner knows how long the files were that the last one wrote', async () => {
  const { job, first } = await anAttestedJob({ [memory]: 700 });
  await first.release();
  const idle = await job.take({ owner: { pid: 2 } });
  expect(idle.known(memory)).toEqual(700);
  await idle.release();
  expect((await job.take({ owner: { pid: 3 } })).known(memory)).toEqual(700);
});

test('an owner that has not found the job as it was left leaves what the one before it noted, however many there are', async () => {
  const { job, first } = await anAttestedJob({ [memory]: 700 });
  await first.release();
  for (let pid = 2; pid < 12; pid++) {
    job.clock.wallMs += 100_000;
    const refused = await job.take({ owner: { pid } });
    expect(refused.known(memory)).toEqual(700);
    await refused.note(memory, 900);
    await refused.release();
  }
});

test('the next owner knows it also behind takers that died before they had written their files', async () => {
  const { job, first } = await anAttestedJob({ [memory]: 700 });
  await first.release();
  for (const [epoch, written] of [
    [2, ''],
    [3, '{"ho'],
    [4, ''],
  ] as const)
    job.put(epoch, written);
  job.clock.wallMs += 100_000;
  const next = await job.take({ owner: { pid: 2 } });
  expect([next.known(memory), next.isReplaced]).toEqual([700, false]);
});

test('a lock file that was put back in place of the last one is known by the file that it names, also behind owners that refused', async () => {
  const job = aJobDirectory();
  const first = await job.take();
  const held = JSON.stringify(job.read(1));
  await first.attest({});
  await first.release();
  job.put(1, held);
  job.dies(1);
  for (let pid = 2; pid < 12; pid++) {
    const next = await job.take({ owner: { pid } });
    expect(next.isReplaced).toBe(true);
    await next.release();
  }
  const adopting = await job.take({ owner: { pid: 12 } });
  await adopting.attest({});
  await adopting.release();
  expect((await job.take({ owner: { pid: 13 } })).isReplaced).toBe(false);
});

describe('what an owner noted', () => {
  test('is known to the next one, although a kill ended it at once', async () => {
    const { job, first } = await anAttestedJob({ journal: 90, registry: 700 });
    for (const bytes of [1000, 1_000_000, 2_000_000]) await first.note('journal', bytes);
    await first.note('registry', 7);
    job.dies(1);
    const next = await job.take({ owner: { pid: 2 } });
    expect([next.known('journal'), next.known('registry')]).toEqual([2_000_000, 7]);
  });

  test.each([
    ['torn', (note: string) => note.slice(0, 20)],
    ['a digit', () => '0'],
    ['a checksum of nothing', () => '00000000 '],
    ['of zeros', (note: string) => '\0'.repeat(note.length)],
    ['with another length', (note: string) => note.replace('1000', '9999')],
    ['gone', () => ''],
  ])('is what was synced before, where a power cut left a note that is %s', async (_how, damage) => {
    const { job, first } = await anAttestedJob({ journal: 90 });
    await first.note('journal', 1000);
    const [line = '', note = ''] = job.readText(1).split('\n');
    expect(note).toContain('1000');
    job.put(1, `${line}\n${damage(`${note}\n`)}`);
    job.dies(1);
    expect((await job.take({ owner: { pid: 2 } })).known('journal')).toEqual(90);
  });

  test('stands behind a renewal that was under way', async () => {
    const { job, first } = await anAttestedJob();
    await first.note('journal', 500);
    const renewal = job.clock.pass(15_000);
    const noted = first.note('journal', 600);
    await Promise.all([renewal, noted]);
    job.dies(1);
    expect((await job.take({ owner: { pid: 2 } })).known('journal')).toEqual(600);
  });

  test('is not written into the file of another: an owner under which its file was replaced has lost the lock', async () => {
    const { job, first } = await anAttestedJob();
    const text = job.readText(1);
    await job.files.remove(pathOf(1));
    await job.files.createExclusive(pathOf(1), text);
    await first.note('journal', 500);
    expect(job.readText(1)).toBe(text);
    await expect(first.assertHeld()).rejects.toMatchObject(LOST);
  });

  test.each(['', '{"host":"b","pi'])(
    'is known behind a taker that died before it had written its file: %j',
    async (text) => {
      const { job, first } = await anAttestedJob({ journal: 90 });
      await first.release();
      job.put(2, text);
      job.clock.jump({ wallMs: 60_000, steadyMs: 0 });
      const next = await job.take({ owner: { pid: 3 } });
      expect([next.epoch, next.known('journal'), next.isReplaced]).toEqual([3, 90, false]);
    },
  );

  test('is nothing where there is no lock: what is there then cannot be known to be the last', async () => {
    const job = aJobDirectory();
    expect((await job.take()).isReplaced).toBe(true);
  });
});
