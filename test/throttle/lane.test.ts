import { describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/ports/clock.js';
import { aLane, aSender, LATENCY_MS, mostInASecond, useFakeTime } from './a-lane.js';

useFakeTime();

describe('the order of a lane', () => {
  test('is the order of the calls, at begin and at the gate', async () => {
    const lane = aLane({ requestsPerSecond: 50, concurrency: 3 });
    const { sent, sendMany } = aSender(lane);
    void sendMany(20);
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent.map(({ name }) => name)).toEqual(Array.from({ length: 20 }, (_, name) => name));
  });

  test('never has more in flight than the concurrency, from begin to end', async () => {
    const lane = aLane({ requestsPerSecond: 1000, concurrency: 3 });
    let inFlight = 0;
    let most = 0;
    for (let count = 0; count < 30; count++) {
      void lane.run({ messages: 1, segments: 1 }, async (gate) => {
        most = Math.max(most, ++inFlight);
        await gate();
        await systemClock.sleep(LATENCY_MS);
        inFlight--;
      });
    }
    await vi.advanceTimersByTimeAsync(2000);
    expect(most).toBe(3);
    expect(inFlight).toBe(0);
  });

  test('lets no task begin long before it may send, so that no intent stands open', async () => {
    const lane = aLane({ requestsPerSecond: 5 });
    const { begun, times, sendMany } = aSender(lane, { prepareMs: () => 10 });
    void sendMany(10);
    await vi.advanceTimersByTimeAsync(3000);
    const waits = times().map((atMs, index) => atMs - (begun[index] ?? 0));
    expect(times()).toHaveLength(10);
    expect(Math.max(...waits)).toBeLessThan(50);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(10);
  });

  test('gives the task’s result, and its error, to the caller', async () => {
    const lane = aLane();
    const cost = { messages: 1, segments: 1 };
    const failed = lane.run(cost, async () => Promise.reject(new Error('disk full')));
    const done = lane.run(cost, async (gate) => {
      await gate();
      return 'done';
    });
    const results = Promise.allSettled([failed, done]);
    await vi.advanceTimersByTimeAsync(500);
    expect(await results).toMatchObject([{ reason: { message: 'disk full' } }, { value: 'done' }]);
  });

  test('gives the turn of a task that ends without sending to the next one', async () => {
    const lane = aLane({ requestsPerSecond: 1, concurrency: 2 });
    for (let count = 0; count < 5; count++) {
      void lane.run({ messages: 1, segments: 1 }, async () => undefined);
    }
    const { times, sendMany } = aSender(lane);
    void sendMany(2);
    await vi.advanceTimersByTimeAsync(3000);
    expect(times()).toHaveLength(2);
  });

  test('counts a second passing of the gate by the same task', async () => {
    const lane = aLane({ requestsPerSecond: 10 });
    const times: number[] = [];
    const startMs = performance.now();
    void lane.run({ messages: 1, segments: 1 }, async (gate) => {
      for (let attempt = 0; attempt < 3; attempt++) {
        await gate();
        times.push(performance.now() - startMs);
      }
    });
    await vi.advanceTimersByTimeAsync(1000);
    expect(times).toHaveLength(3);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(95);
    expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThan(95);
  });
});

describe('a pause', () => {
  test('holds all that waits for at least so long, and nothing bursts after it', async () => {
    const lane = aLane({ requestsPerSecond: 50 });
    const { sent, times, sendMany } = aSender(lane);
    void sendMany(300);
    await vi.advanceTimersByTimeAsync(1000);
    lane.pauseFor(3000);
    lane.pauseFor(100);
    await vi.advanceTimersByTimeAsync(3000);
    expect(times().filter((atMs) => atMs > 1000 && atMs < 4000)).toEqual([]);
    await vi.advanceTimersByTimeAsync(1500);
    expect(times().filter((atMs) => atMs >= 4000).length).toBeGreaterThan(70);
    expect(mostInASecond(sent)).toBeLessThanOrEqual(50);
  });

  test('is known for as long as it lasts', async () => {
    const lane = aLane({});
    expect(lane.pausedMs).toBe(0);
    lane.pauseFor(3000);
    lane.pauseFor(100);
    await vi.advanceTimersByTimeAsync(1000);
    expect(lane.pausedMs).toBe(2000);
  });

  test.each([
    [1000, 0.5, 1125],
    [60_000, 0.5, 62_500],
    [0, 0.999, 0],
  ])('of %d ms is made longer by jitter, never shorter', async (delayMs, random, pausedForMs) => {
    const lane = aLane({}, { random: () => random });
    const { times, sendMany } = aSender(lane);
    lane.pauseFor(delayMs);
    void sendMany(1);
    await vi.advanceTimersByTimeAsync(70_000);
    expect(times()[0]).toBeGreaterThanOrEqual(pausedForMs);
    expect(times()[0]).toBeLessThan(pausedForMs + 30);
  });
});

type Options = NonNullable<Parameters<typeof aLane>[1]>;

const ago = (lastSentMsAgo: number | undefined) => ({ lastSentMsAgo });
const afterABatch = { lastSentMsAgo: 0, lastSize: { messages: 700, segments: 900 } };

test.each<[what: string, limits: Parameters<typeof aLane>[0], options: Options, waitMs: number]>([
  ['where nothing was sent before', {}, ago(undefined), 0],
  ['what is left of the second', {}, ago(0), 1000],
  ['what is left of the second', {}, ago(300), 700],
  ['nothing once it is over', {}, ago(1500), 0],
  ['a second where the wall clock was set back meanwhile', {}, ago(-5000), 1000],
  ['the time that the limit gives a request', { requestsPerSecond: 0.25 }, ago(0), 4000],
  ['the time that the limit gives a request', { requestsPerSecond: 0.25 }, ago(1500), 2500],
  ['the time that the limit gives a request', { requestsPerSecond: 0.1 }, ago(500), 9500],
  ['nothing once that is over', { requestsPerSecond: 0.25 }, ago(4500), 0],
  ['the time that the limit gives a batch of messages', { messagesPerSecond: 100 }, afterABatch, 7000],
  ['the time that the limit gives a batch of parts', { segmentsPerSecond: 200 }, afterABatch, 4500],
  ['a second behind as many messages as it may have', { messagesPerSecond: 1000 }, afterABatch, 1000],
  ['the time of one message', { requestsPerSecond: 20, messagesPerSecond: 0.5 }, ago(500), 1500],
])('a restart waits out %s: %j, %j', async (_what, limits, options, waitMs) => {
  const lane = aLane({ requestsPerSecond: 100, ...limits }, options);
  const { times, sendMany } = aSender(lane, { prepareMs: () => 0 });
  void sendMany(1);
  await vi.advanceTimersByTimeAsync(11_000);
  expect(times()[0]).toBeGreaterThanOrEqual(waitMs);
  expect(times()[0]).toBeLessThan(waitMs + 100);
});
