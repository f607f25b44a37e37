import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { firstSeedOf, readCommit } from './first-seed.js';
import { simulate } from './simulate.js';

const SEEDS = 30;
const FROM = firstSeedOf(readCommit(import.meta.dirname));

// First: what the process has not loaded yet must make no difference.
test('a seed gives one course of events, whatever ran before it', async () => {
  const digests = async (seeds: readonly number[]) => {
    const found: Record<number, string> = {};
    for (const seed of seeds) found[seed] = (await simulate(seed)).traceDigest;
    return found;
  };
  const seeds = Array.from({ length: 2 }, (_, index) => 5000 + index);

  const first = await digests(seeds);

  expect(await digests(seeds.toReversed())).toEqual(first);
  expect(new Set(Object.values(first)).size).toBe(seeds.length);
});

test(`${SEEDS} simulated jobs come through kills, power cuts, signals, rivals and faults: nothing twice, nothing lost`, async () => {
  process.stdout.write(`${SEEDS} seeds from ${FROM}: npm run simulate -- --from ${FROM} --seeds ${SEEDS}\n`);
  const seen = { lives: 0, requests: 0, inDoubt: 0 };
  for (let seed = FROM; seed < FROM + SEEDS; seed++) {
    const { lives, requests, inDoubt } = await simulate(seed).catch((error) => {
      throw new Error(`seed ${seed} (npm run simulate -- --from ${seed} --seeds 1 --trace): ${error.message}`);
    });
    seen.lives += lives;
    seen.requests += requests;
    seen.inDoubt += inDoubt;
  }

  // What the seeds have in store is not so tame that nothing could go wrong.
  expect(seen.lives).toBeGreaterThan(1.5 * SEEDS);
  expect(seen.requests).toBeGreaterThan(10 * SEEDS);
  expect(seen.inDoubt).toBeGreaterThan(0);
}, 600_000);

test('seeds begin at another place with every commit, at the same one as often as it is tested, and at 1 without git', () => {
  const [one, other] = ['00000001', 'ffffffff'].map((commit) => firstSeedOf(commit.padEnd(40, '0')));
  const outside = mkdtempSync(join(tmpdir(), 'volley-seeds-'));
  try {
    expect([firstSeedOf(readCommit(outside)), firstSeedOf(undefined)]).toEqual([1, 1]);
  } finally {
    rmSync(outside, { recursive: true });
  }
  expect(one).toBe(1001);
  expect(other).not.toBe(one);
  // A seed is 32 bits: none comes twice in one test.
  expect((other ?? 0) + SEEDS).toBeLessThan(2 ** 31);
});
