import { describe, expect, test, vi } from 'vitest';
import { aLane, aLimits, aSender } from './a-lane.js';

const PREPARE_MS = 1;
/** A block of 10 ms, and what may begin ahead of it; without bottleneck it is 44 to 48 ms. */
const MOST_HELD_MS = 25;

/** A sender that tells how long the gate held each request that was ready for it. */
function aHeldSender(lane: ReturnType<typeof aLane>) {
  const sender = aSender(lane, { prepareMs: () => PREPARE_MS });
  const heldMs = () => sender.times().map((atMs, name) => atMs - (sender.begun[name] ?? 0) - PREPARE_MS);
  return { ...sender, heldMs };
}

describe('bottleneck spreads requests over the second, so that the gate need not hold a burst of them', () => {
  test.each([5, 20, 200, 1500])('at %d requests a second', async (requestsPerSecond) => {
    const lane = aLane({ requestsPerSecond, concurrency: 256 });
    const { times, heldMs, sendMany } = aHeldSender(lane);
    void sendMany(requestsPerSecond * 4);
    await vi.advanceTimersByTimeAsync(3000);
    expect(times().length).toBeGreaterThanOrEqual(requestsPerSecond * 2.95);
    expect(Math.max(...heldMs())).toBeLessThan(MOST_HELD_MS);
  });

  test('where batches use up the limit of messages', async () => {
    const lane = aLane({ requestsPerSecond: 1800, messagesPerSecond: 10_000, concurrency: 256 });
    const sender = aSender(lane, { messages: 1000, prepareMs: () => PREPARE_MS });
    void sender.sendMany(40);
    await vi.advanceTimersByTimeAsync(3000);
    const heldMs = sender.times().map((atMs, name) => atMs - (sender.begun[name] ?? 0) - PREPARE_MS);
    expect(heldMs).toHaveLength(30);
    expect(Math.max(...heldMs)).toBeLessThan(MOST_HELD_MS);
  });

  test('of a lane that was slowed down, and of one whose limits were changed', async () => {
    const lane = aLane({ requestsPerSecond: 100, concurrency: 256 });
    const { times, heldMs, sendMany } = aHeldSender(lane);
    void sendMany(1000);
    await vi.advanceTimersByTimeAsync(1000);
    lane.slowDown();
    // What was scheduled for the old rate runs out first.
    await vi.advanceTimersByTimeAsync(300);
    const slowed = times().length;
    await vi.advanceTimersByTimeAsync(2000);
    expect(times().length - slowed).toBeGreaterThan(95);
    expect(Math.max(...heldMs().slice(slowed))).toBeLessThan(MOST_HELD_MS);
    lane.setLimits(aLimits({ requestsPerSecond: 300, concurrency: 256 }));
    await vi.advanceTimersByTimeAsync(300);
    const changed = times().length;
    await vi.advanceTimersByTimeAsync(2000);
    expect(times().length - changed).toBeGreaterThan(280);
    expect(Math.max(...heldMs().slice(changed))).toBeLessThan(MOST_HELD_MS);
  });
});
