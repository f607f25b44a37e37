import { expect, test } from 'vitest';
import { createSharedLane, ServerClock } from '../../src/cluster/shared-lane.js';
import type { LaneStore } from '../../src/cluster/store.js';
import { createRandom } from '../../src/sandbox/random.js';
import { Timeline } from '../world/timeline.js';
import { clockOf, runLanes } from './lanes-on-a-timeline.js';
import { MemoryCluster } from './memory-store.js';

test('what cannot be reached is said within 30 seconds, with the reason, and once', async () => {
  const far = await runLanes(2, { perSecond: 25, callMs: 150, seconds: 60 });
  const near = await runLanes(2, { perSecond: 25, callMs: 5, seconds: 30 });

  // Each of the two.
  expect(far.said.map(({ text }) => text)).toEqual(
    Array(2).fill(expect.stringMatching(/^the database answers in 1[45]\d ms: 0\.8\d of the limit can be used$/u)),
  );
  expect(Math.max(...far.said.map(({ atMs }) => atMs))).toBeLessThan(30_000);
  expect(near.said).toEqual([]);
});

/** A lane of a store that takes `callMs` to answer. */
function aLane({ requestsPerSecond = 25, callMs = 0, book = undefined as LaneStore['book'] | undefined }) {
  const timeline = new Timeline(createRandom(1, 2));
  const clock = clockOf(timeline);
  const store = new MemoryCluster(clock).connect();
  const said: string[] = [];
  const asked: { atMs: number; slowed: boolean; pauseMs: number }[] = [];
  const call = async <T>(answer: () => Promise<T>): Promise<T> => {
    await clock.sleep(callMs / 2);
    const value = await answer();
    await clock.sleep(callMs / 2);
    return value;
  };
  const asking: LaneStore['book'] = (name, ask) => {
    asked.push({ atMs: timeline.nowMs, slowed: ask.slowed, pauseMs: ask.pauseMs });
    return call(() => (book ?? store.book)(name, ask));
  };
  const stopping = new AbortController();
  const lane = createSharedLane({
    ...{ store: { book: asking }, name: 'sms', server: new ServerClock(), clock, random: () => 0.5 },
    limits: { requestsPerSecond, messagesPerSecond: undefined, segmentsPerSecond: undefined, concurrency: 4 },
    ...{ signal: stopping.signal, giveUpAfterMs: 60_000, onReach: (text: string) => said.push(text) },
  });
  return { lane, timeline, clock, call, said, asked, stop: () => stopping.abort() };
}

test.each([
  ['a refusal', { slowed: true, pauseMs: 0 }],
  ['a pause', { slowed: false, pauseMs: 3000 }],
] as const)('%s that comes while the lane asks for turns is said by the next call, at once', async (_, said) => {
  const never = async () => ({ nowMs: 0, inMs: [], slackMs: 100, againInMs: 10_000, share: 1 });
  const { lane, timeline, asked, stop } = aLane({ callMs: 100, book: never });
  lane.run({ messages: 1, segments: 1 }, async () => {}).catch(() => {});
  await timeline.runUntil(() => timeline.nowMs > 0 && asked.length === 2);
  if (said.slowed) lane.slowDown();
  else lane.pauseFor(said.pauseMs);
  await timeline.runUntil(() => asked.length === 3);
  stop();

  expect(asked[2]).toEqual({ atMs: expect.any(Number), ...said });
  expect(asked[2]!.atMs - asked[1]!.atMs).toBeLessThan(150);
});

test('a check before sending that asks a far database now and then costs no turn, however rare turns are', async () => {
  const { lane, timeline, clock, call } = aLane({ requestsPerSecond: 0.1, callMs: 120 });
  let checkedAtMs = clock.monotonicMs();
  let checks = 0;
  const checkLease = async () => {
    if (clock.monotonicMs() - checkedAtMs < 5_000) return;
    checks += 1;
    await call(async () => {});
    checkedAtMs = clock.monotonicMs();
  };
  const leftAtMs: number[] = [];
  let failure: unknown;
  lane
    .run({ messages: 1, segments: 1 }, async (gate) => {
      for (;;) {
        await gate(checkLease);
        leftAtMs.push(timeline.nowMs);
      }
    })
    .catch((error: unknown) => {
      failure = error;
    });
  await timeline.runUntil(() => leftAtMs.length === 5 || failure !== undefined);

  expect(failure).toBeUndefined();
  expect(checks).toBeGreaterThan(3);
  expect(timeline.nowMs).toBeLessThan(70_000);
});

test('requests that come too late to each turn, for whatever cause, are given up after the time that is given', async () => {
  const { lane, timeline, clock, said } = aLane({ requestsPerSecond: 25, callMs: 0 });
  let leftAtMs: number | undefined;
  const ended = lane.run({ messages: 1, segments: 1 }, async (gate) => {
    // As a disk that hangs.
    await gate(() => clock.sleep(2_000));
    leftAtMs = timeline.nowMs;
  });
  let failure: unknown;
  ended.catch((error: unknown) => {
    failure = error;
  });
  await timeline.runUntil(() => failure !== undefined || leftAtMs !== undefined || timeline.nowMs > 200_000);

  expect(leftAtMs).toBeUndefined();
  expect(failure).toMatchObject({ code: 'unavailable', message: expect.stringContaining('too late to their turns') });
  expect(timeline.nowMs).toBeLessThan(70_000);
  expect(said[0]).toMatch(/too late to their turns.*: 0\.00 of the limit can be used/u);
});
