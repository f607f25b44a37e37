import { expect, test } from 'vitest';
import { simulate } from './simulate.js';

const SEEDS = 1000;

test(`${SEEDS} simulated jobs come through kills, power cuts, signals, rivals and faults: nothing twice, nothing lost`, async () => {
  const seen = { lives: 0, requests: 0, inDoubt: 0 };
  for (let seed = 1; seed <= SEEDS; seed++) {
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
  expect(seen.inDoubt).toBeGreaterThan(SEEDS);
}, 600_000);

test('a seed gives one course of events, whatever ran before it', async () => {
  const digests = async (seeds: readonly number[]) => {
    const found: Record<number, string> = {};
    for (const seed of seeds) found[seed] = (await simulate(seed)).traceDigest;
    return found;
  };
  const seeds = Array.from({ length: 20 }, (_, index) => 5000 + index);

  const first = await digests(seeds);

  expect(await digests(seeds.toReversed())).toEqual(first);
  expect(new Set(Object.values(first)).size).toBe(seeds.length);
});
