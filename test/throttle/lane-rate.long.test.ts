import { describe, expect, test, vi } from 'vitest';
import { type Clock, systemClock } from '../../src/ports/clock.js';
import { oneIn } from '../one-in.js';
import { aLane, aSender, close, mostInASecond, rateOf, unevenDisk, useFakeTime } from './a-lane.js';

useFakeTime();

describe('the rate of a lane', () => {
  const LIMITS = [
    [5, 1, 5],
    [10, 1, 5],
    [100, 1, 4],
    [500, 1, 4],
    [1000, 1, 3],
    [1800, 1, 3],
    [1800, 1000, 3],
  ] as const;
  test.each(oneIn(3, LIMITS))(
    'of %d requests a second with %d messages each is reached and never exceeded in any second',
    async (requestsPerSecond, messages, seconds) => {
      const messagesPerSecond = messages === 1 ? undefined : 10_000;
      const lane = aLane({ requestsPerSecond, messagesPerSecond, concurrency: 256 });
      const { sent, sendMany } = aSender(lane, { messages, prepareMs: unevenDisk });
      const perSecond = messages === 1 ? requestsPerSecond : 10_000;
      void sendMany(Math.ceil((perSecond / messages) * (seconds + 2)));
      await vi.advanceTimersByTimeAsync(seconds * 1000);
      expect(mostInASecond(sent)).toBeLessThanOrEqual(perSecond);
      expect(rateOf(sent)).toBeGreaterThan(perSecond * 0.99);
    },
  );

  test.each([
    [25, 50],
    [25, 250],
    [200, 250],
  ])('of %d requests a second is reached on a disk that takes %d ms for each intent', async (requestsPerSecond, ms) => {
    const lane = aLane({ requestsPerSecond, concurrency: 256 });
    const { sent, sendMany } = aSender(lane, { prepareMs: () => ms });
    void sendMany(requestsPerSecond * 8);
    await vi.advanceTimersByTimeAsync(6000);
    expect(mostInASecond(sent)).toBeLessThanOrEqual(requestsPerSecond);
    expect(rateOf(sent)).toBeGreaterThan(requestsPerSecond * 0.96);
  });

  test.each([
    ['20 ms', 20],
    ['300 ms', 300],
    ['more than the second in which they passed', 1300],
  ])('is not exceeded by requests whose connections are made first, in %s', async (_, connectMs) => {
    const lane = aLane({ requestsPerSecond: 200, concurrency: 256 });
    const { sent, sendMany } = aSender(lane, { connectMs: (name) => (name < 60 ? connectMs : 0) });
    void sendMany(3000);
    await vi.advanceTimersByTimeAsync(6000);
    expect(mostInASecond(sent)).toBeLessThanOrEqual(200);
    expect(rateOf(sent)).toBeGreaterThan(200 * 0.95);
  });

  test('is not exceeded, and not lost, by a machine whose timers come late', async () => {
    let seed = 2222;
    const lateClock: Clock = {
      ...systemClock,
      sleep: (delayMs, signal) => {
        seed = (seed * 48271) % 2147483647;
        const chance = seed >> 16;
        const connectDelayMs = chance % 10 === 0 ? 30 : chance % 4;
        return systemClock.sleep(delayMs + connectDelayMs, signal);
      },
    };
    const lane = aLane({ requestsPerSecond: 200, concurrency: 256 }, { clock: lateClock });
    const { sent, sendMany } = aSender(lane, { prepareMs: unevenDisk });
    void sendMany(12_000);
    // Eight seconds of it may be 4 % above the average, or below.
    await vi.advanceTimersByTimeAsync(40_000);
    expect(mostInASecond(sent)).toBeLessThanOrEqual(200);
    expect(rateOf(sent)).toBeGreaterThan(200 * 0.94);
  });

  test('counts messages and segments where they are the narrower limit', async () => {
    const lane = aLane({ requestsPerSecond: 100, messagesPerSecond: 1000, segmentsPerSecond: 400 });
    const { sent, sendMany } = aSender(lane, { messages: 100 });
    void sendMany(20);
    await vi.advanceTimersByTimeAsync(3000);
    expect(mostInASecond(sent)).toBe(400);
  });

  test('of a lane that was slowed down is half, and comes back with success', async () => {
    const lane = aLane({ requestsPerSecond: 20 });
    const { sent, times, sendMany } = aSender(lane);
    void sendMany(400);
    await vi.advanceTimersByTimeAsync(1000);
    lane.slowDown();
    lane.slowDown();
    expect(lane.share).toBe(0.5);
    await vi.advanceTimersByTimeAsync(3000);
    expect(mostInASecond(sent.filter(({ atMs }) => atMs > 1100))).toBe(10);
    for (let second = 0; second < 15; second++) {
      await vi.advanceTimersByTimeAsync(1000);
      lane.noteSuccess();
    }
    expect(lane.share).toBe(1);
    const before = times().length;
    await vi.advanceTimersByTimeAsync(1000);
    expect(times().length - before).toBeGreaterThanOrEqual(19);
  });
});

describe('a lane on a machine', () => {
  test('sets no timer when no one waits', async () => {
    const lane = aLane({ requestsPerSecond: 100 });
    const { sendMany } = aSender(lane);
    void sendMany(50);
    await vi.advanceTimersByTimeAsync(2000);
    expect(vi.getTimerCount()).toBe(0);
    await close(lane);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('continues when the wall clock is set back by an hour', async () => {
    const lane = aLane({ requestsPerSecond: 20 });
    const { times, sendMany } = aSender(lane);
    void sendMany(200);
    await vi.advanceTimersByTimeAsync(2000);
    const before = times().length;
    vi.setSystemTime(Date.now() - 3_600_000);
    await vi.advanceTimersByTimeAsync(4000);
    expect(times().length - before).toBeGreaterThan(40);
    await close(lane);
    expect(vi.getTimerCount()).toBe(0);
  });
});
