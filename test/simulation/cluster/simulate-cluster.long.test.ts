import { expect, test } from 'vitest';
import { simulateCluster } from './simulate-cluster.js';

const SEEDS = 16;
// Always the same: of some thousand seeds one ends in a refusal whose cause is the leader's clock, test/README.md.
const FROM = 1;

// First: what the process has not loaded yet must make no difference.
test('a seed over a database gives one course of events, whatever ran before it', async () => {
  const seeds = [5001, 5002];
  const digests = async (order: readonly number[]) => {
    const found: Record<number, string> = {};
    for (const seed of order) found[seed] = (await simulateCluster(seed)).traceDigest;
    return found;
  };

  const first = await digests(seeds);

  expect(await digests(seeds.toReversed())).toEqual(first);
  expect(new Set(Object.values(first)).size).toBe(seeds.length);
});

test(`${SEEDS} simulated jobs over a database come through lost processes, connections and commits: nothing twice, nothing lost`, async () => {
  process.stdout.write(`${SEEDS} seeds from ${FROM}: npm run simulate -- --cluster --from ${FROM} --seeds ${SEEDS}\n`);
  const seen = { lives: 0, requests: 0, inDoubt: 0, refusals: 0 };
  for (let seed = FROM; seed < FROM + SEEDS; seed++) {
    const { lives, requests, inDoubt, refusals } = await simulateCluster(seed).catch((error) => {
      throw new Error(
        `seed ${seed} (npm run simulate -- --cluster --from ${seed} --seeds 1 --trace): ${error.message}`,
      );
    });
    seen.lives += lives;
    seen.requests += requests;
    seen.inDoubt += inDoubt;
    seen.refusals += refusals;
  }

  // What the seeds have in store is not so tame that nothing could go wrong.
  expect(seen.lives).toBeGreaterThan(1.5 * SEEDS);
  expect(seen.requests).toBeGreaterThan(10 * SEEDS);
  expect(seen.inDoubt).toBeGreaterThan(0);
}, 600_000);
