import { expect, test } from 'vitest';
import { createSharedLane } from '../../src/cluster/shared-lane.js';
import type { LaneStore } from '../../src/cluster/store.js';
import { createRandom } from '../../src/sandbox/random.js';
import { Timeline } from '../world/timeline.js';
import { clockOf, runLanes } from './lanes-on-a-timeline.js';

test.each([
  [0.2, 0.97],
  [5, 0.95],
  [25, 0.93],
  [50, 0.9],
  [100, 0.82],
  [150, 0.78],
])(
  'over a database that answers in %d ms, processes use %d of the limit or more, and in no second more than it',
  async (callMs, least) => {
    const { share, worst } = await runLanes(3, { perSecond: 100, callMs, seconds: 10, concurrency: 32 });
    expect(share).toBeGreaterThan(least);
    expect(worst).toBeLessThanOrEqual(100);
  },
);

const LIMITS = { requestsPerSecond: 25, messagesPerSecond: undefined, segmentsPerSecond: undefined, concurrency: 4 };

/** A lane of a store that answers after 100 ms, and never has a turn before ten seconds are over. */
function aLaneThatWaits() {
  const timeline = new Timeline(createRandom(1, 1));
  const clock = clockOf(timeline);
  const asked: { atMs: number; slowed: boolean; pauseMs: number }[] = [];
  const book: LaneStore['book'] = async (_, { slowed, pauseMs }) => {
    asked.push({ atMs: timeline.nowMs, slowed, pauseMs });
    await clock.sleep(100);
    return { nowMs: clock.now(), inMs: [], slackMs: 100, againInMs: 10_000, share: 1, pausedForMs: 0 };
  };
  const random = () => 0.5;
  const stopping = new AbortController();
  const lane = createSharedLane({
    store: { book },
    name: 'sms',
    limits: LIMITS,
    clock,
    random,
    signal: stopping.signal,
  });
  lane.run({ messages: 1, segments: 1 }, async () => {}).catch(() => {});
  return { lane, timeline, asked, stop: () => stopping.abort() };
}

test.each([
  ['a refusal', { slowed: true, pauseMs: 0 }],
  ['a pause', { slowed: false, pauseMs: 3000 }],
] as const)('%s that comes while the lane asks for turns is said by the next call, at once', async (_, said) => {
  const { lane, timeline, asked, stop } = aLaneThatWaits();
  await timeline.runUntil(() => timeline.nowMs > 0 && asked.length === 2);
  if (said.slowed) lane.slowDown();
  else lane.pauseFor(said.pauseMs);
  await timeline.runUntil(() => asked.length === 3);
  stop();

  expect(asked[2]).toEqual({ atMs: expect.any(Number), ...said });
  expect(asked[2]!.atMs - asked[1]!.atMs).toBeLessThan(150);
});
