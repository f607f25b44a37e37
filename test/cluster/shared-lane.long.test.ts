import { expect, test } from 'vitest';
import { oneIn } from '../one-in.js';
import { runLanes } from './lanes-on-a-timeline.js';

/** Processes with as many slots as the limit takes, at 140 ms an answer and as long for a turn. */
const concurrencyFor = (perSecond: number) => (perSecond > 100 ? 96 : 16);

const NEAR = [2.5, 25, 200].flatMap((perSecond) => [1, 2, 8, 16].map((lanes) => [perSecond, lanes] as const));

test.each(oneIn(3, NEAR))(
  'at %d a second, %i processes use the limit and never go beyond it',
  async (perSecond, lanes) => {
    const seconds = perSecond > 100 ? 30 : 120;
    const concurrency = concurrencyFor(perSecond);
    const { share, worst, leastPart } = await runLanes(lanes, { perSecond, concurrency, seconds });
    expect(worst).toBeLessThanOrEqual(Math.ceil(perSecond));
    expect(share).toBeGreaterThan(0.98);
    // Within a minute or two; each has the same chance at every turn.
    if (perSecond >= 25) expect(leastPart).toBeGreaterThan(0.7);
  },
);

const OF_DISTANCE = [
  [0.3, 0.97],
  [5, 0.95],
  [25, 0.93],
  [50, 0.9],
  [100, 0.82],
] as const;

const AFAR = OF_DISTANCE.flatMap(([callMs, least]) =>
  [10, 200].flatMap((perSecond) => [1, 2, 8].map((lanes) => [callMs, perSecond, lanes, least] as const)),
);

test.each(oneIn(4, AFAR))(
  'over a database that answers in %d ms, at %i a second, %i processes use %d of the limit or more',
  async (callMs, perSecond, lanes, least) => {
    const seconds = perSecond > 100 ? 30 : 60;
    const concurrency = perSecond > 100 ? 192 : 16;
    const { share, worst, leastPart } = await runLanes(lanes, { perSecond, callMs, seconds, concurrency });
    expect(share).toBeGreaterThan(least);
    expect(worst).toBeLessThanOrEqual(perSecond);
    if (perSecond > 100) expect(leastPart).toBeGreaterThan(0.7);
  },
);
