import { describe, expect, test, vi } from 'vitest';
import { aLane, aSender, useFakeTime } from './a-lane.js';

useFakeTime();

const PREPARE_MS = 1;
/** What a task may begin before its turn, and the steps of a timer. */
const MOST_HELD_MS = 40;

/** A sender that tells how long the gate held each request that was ready for it. */
function aHeldSender(lane: ReturnType<typeof aLane>) {
  const sender = aSender(lane, { prepareMs: () => PREPARE_MS });
  const heldMs = () => sender.times().map((atMs, name) => atMs - (sender.begun[name] ?? 0) - PREPARE_MS);
  return { ...sender, heldMs };
}

describe('a task begins shortly before its turn, so that the gate need not hold it long', () => {
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

  test('of a lane that was slowed down', async () => {
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
  });
});

test.each([
  [1500, 30],
  [300, 6],
  [20, 1],
])(
  'bottleneck lets no more begin at once than a block: at %d requests a second %d',
  async (requestsPerSecond, most) => {
    const lane = aLane({ requestsPerSecond, concurrency: 256 });
    const { begun, sendMany } = aSender(lane, { prepareMs: () => PREPARE_MS });
    void sendMany(requestsPerSecond * 4);
    await vi.advanceTimersByTimeAsync(1000);
    lane.pauseFor(1000);
    await vi.advanceTimersByTimeAsync(2000);
    const atOnce = new Map<number, number>();
    for (const atMs of begun) atOnce.set(Math.floor(atMs), (atOnce.get(Math.floor(atMs)) ?? 0) + 1);
    expect(Math.max(...atOnce.values())).toBeLessThanOrEqual(most + 1);
  },
);
