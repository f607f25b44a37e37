import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_COUNTS, Walk } from './walk.js';
import { type WalkCommands, walkCommands } from './walk-commands.js';

const WALKS = Number(process.env.WALKS ?? 12);

test(`${WALKS} walks of commands in any order, cut short at any moment: no row is accepted twice`, async () => {
  const sum = { ...NO_COUNTS };
  const walkOnce = async (seed: number, commands: WalkCommands) => {
    const walk = new Walk(seed);
    try {
      await walk.run();
      await fc.asyncModelRun(() => ({ model: {}, real: walk }), commands);
      await walk.finish();
    } catch (error) {
      throw new Error(`${(error as Error).message}\n  ${walk.trail.join('\n  ')}`);
    }
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += walk.counts[key];
  };

  await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), walkCommands, walkOnce), {
    numRuns: WALKS,
    seed: Number(process.env.WALK_SEED ?? 1),
  });

  if (process.env.WALKS !== undefined) process.stdout.write(`${WALKS} walks: ${JSON.stringify(sum)}\n`);
  // The walks are not so tame that nothing could go wrong.
  expect(sum.commands).toBeGreaterThan(20 * WALKS);
  expect(sum.deaths).toBeGreaterThan(WALKS);
  expect(sum.settled).toBeGreaterThan(WALKS);
  expect(sum.retried).toBeGreaterThan(WALKS / 4);
  expect(sum.fed).toBeGreaterThan(WALKS / 2);
  expect(sum.refused).toBeGreaterThan(WALKS / 6);
  expect(Math.min(sum.drafts, sum.forgotten, sum.late, sum.pruned, sum.abandoned, sum.tests)).toBeGreaterThan(
    WALKS / 20,
  );
});
