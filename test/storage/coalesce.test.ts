import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { coalesce } from '../../src/storage/group-commit.js';

/** Looks that end when the test says so. */
function someLooks() {
  const ends: { end: () => void; fail: (error: Error) => void }[] = [];
  const ask = coalesce(() => new Promise<void>((end, fail) => ends.push({ end, fail })));
  return { ends, ask };
}

it('who asks while a look is under way gets one that begins later, shared by all that wait', async () => {
  const { ends, ask } = someLooks();
  const done: string[] = [];
  const note = (name: string) => ask().then(() => done.push(name));
  const all = [note('first'), note('second'), note('third')];
  expect(ends).toHaveLength(1);
  ends[0]?.end();
  await setImmediate();
  expect(done).toEqual(['first']);
  expect(ends).toHaveLength(2);
  const later = note('later');
  ends[1]?.end();
  await Promise.all(all);
  expect(done).toEqual(['first', 'second', 'third']);
  await setImmediate();
  expect(ends).toHaveLength(3);
  ends[2]?.end();
  await later;
});

it('a look that fails fails those that share it, and no other', async () => {
  const { ends, ask } = someLooks();
  const first = ask();
  const shared = [ask(), ask()];
  ends[0]?.fail(new Error('lost'));
  await expect(first).rejects.toThrow('lost');
  await setImmediate();
  ends[1]?.end();
  expect(await Promise.allSettled(shared)).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }]);
});
