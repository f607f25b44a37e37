import { describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/ports/clock.js';
import { aLane, mostInASecond, type Sent, useFakeTime } from './a-lane.js';

useFakeTime();

const COST = { messages: 1, segments: 1 };

/** Sends through a lane with a last look, and notes when a request was looked at, and when it left. */
function aLookingSender(lane: ReturnType<typeof aLane>, look: (name: number) => Promise<void>) {
  const startMs = performance.now();
  const sinceStart = () => performance.now() - startMs;
  const looked: number[] = [];
  const sent: Sent[] = [];
  const refused: unknown[] = [];
  const send = (name: number) =>
    lane
      .run(COST, async (gate) => {
        await gate(() => {
          looked.push(sinceStart());
          return look(name);
        });
        sent.push({ name, atMs: sinceStart(), messages: 1 });
      })
      .catch((error: unknown) => refused.push(error));
  return { looked, sent, refused, sendMany: (count: number) => Array.from({ length: count }, (_, name) => send(name)) };
}

describe('the last look', () => {
  test('is taken when the turn of a request has come, however long it waited', async () => {
    const lane = aLane({ requestsPerSecond: 10 });
    lane.pauseFor(60_000);
    const { looked, sent, sendMany } = aLookingSender(lane, async () => {});
    sendMany(3);
    await vi.advanceTimersByTimeAsync(61_000);
    expect(looked).toHaveLength(3);
    expect(Math.min(...looked)).toBeGreaterThanOrEqual(60_000);
    expect(sent.map(({ atMs }) => atMs)).toEqual(looked);
  });

  test('that fails keeps the request, gives its turn to the next, and its error to the caller', async () => {
    const lane = aLane({ requestsPerSecond: 1 });
    const { sent, refused, sendMany } = aLookingSender(lane, async (name) => {
      if (name !== 3) throw new Error(`not ${name}`);
    });
    sendMany(4);
    await vi.advanceTimersByTimeAsync(1900);
    expect(refused).toEqual([new Error('not 0'), new Error('not 1'), new Error('not 2')]);
    expect(sent.map(({ name }) => name)).toEqual([3]);
  });

  test('that takes long lets no more leave in any second than the limit says', async () => {
    const lane = aLane({ requestsPerSecond: 50 });
    const { sent, sendMany } = aLookingSender(lane, (name) => systemClock.sleep(name % 20 === 0 ? 90 : 1));
    sendMany(200);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sent).toHaveLength(200);
    expect(mostInASecond(sent)).toBeLessThanOrEqual(50);
  });

  test('is taken anew where the lane was paused meanwhile', async () => {
    const lane = aLane({ requestsPerSecond: 10 });
    const { looked, sent, sendMany } = aLookingSender(lane, async () => {
      if (sent.length === 0 && looked.length === 1) lane.pauseFor(5000);
    });
    sendMany(1);
    await vi.advanceTimersByTimeAsync(6000);
    expect(looked).toHaveLength(2);
    expect(sent[0]?.atMs).toBeGreaterThanOrEqual(5000);
    expect(sent[0]?.atMs).toBe(looked[1]);
  });
});
