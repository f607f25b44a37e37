import { describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/ports/clock.js';
import { LaneStopped } from '../../src/throttle/gate.js';
import { aLane, aSender, close, useFakeTime } from './a-lane.js';

useFakeTime();

describe('stopping a lane', () => {
  test.each(['close', 'signal'])('by %s rejects what has not passed the gate, and lets the rest end', async (by) => {
    const stop = new AbortController();
    const lane = aLane({ requestsPerSecond: 5, concurrency: 4 }, { signal: stop.signal });
    const { sent, stopped, sendMany } = aSender(lane);
    const all = sendMany(10);
    await vi.advanceTimersByTimeAsync(500);
    const sentBefore = sent.length;
    if (by === 'close') void lane.close();
    else stop.abort();
    await vi.advanceTimersByTimeAsync(100);
    await all;
    expect(sentBefore).toBeGreaterThan(0);
    expect(sent).toHaveLength(sentBefore);
    expect(stopped).toHaveLength(10 - sentBefore);
  });

  test('refuses a task that already stands at the gate', async () => {
    const lane = aLane({ requestsPerSecond: 1 });
    lane.pauseFor(60_000);
    let isRefused = false;
    const cost = { messages: 1, segments: 1 };
    const task = lane.run(cost, async (gate) => gate());
    const second = lane.run(cost, async (gate) => {
      await gate();
    });
    const results = Promise.allSettled([task, second]).then((settled) => {
      isRefused = settled.every((one) => one.status === 'rejected' && one.reason instanceof LaneStopped);
    });
    await vi.advanceTimersByTimeAsync(59_990);
    await close(lane);
    await results;
    expect(isRefused).toBe(true);
  });

  test('refuses at once what has no slot, and does not wait for what is in flight', async () => {
    const lane = aLane({ concurrency: 1 });
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    void lane.run({ messages: 1, segments: 1 }, async (gate) => {
      await gate();
      await answered;
    });
    const waiting = expect(lane.run({ messages: 1, segments: 1 }, async () => 1)).rejects.toThrow(LaneStopped);
    await vi.advanceTimersByTimeAsync(100);
    void lane.close();
    await waiting;
    answer();
  });

  test('refuses what comes afterwards', async () => {
    const lane = aLane();
    await lane.close();
    await expect(lane.run({ messages: 1, segments: 1 }, async () => 1)).rejects.toThrow(LaneStopped);
    const aborted = aLane({}, { signal: AbortSignal.abort() });
    await expect(aborted.run({ messages: 1, segments: 1 }, async () => 1)).rejects.toThrow(LaneStopped);
  });

  test('resolves when what has passed the gate has ended', async () => {
    const lane = aLane();
    const events: string[] = [];
    void lane.run({ messages: 1, segments: 1 }, async (gate) => {
      await gate();
      events.push('sent');
      await systemClock.sleep(5000);
      events.push('answered');
    });
    await vi.advanceTimersByTimeAsync(100);
    const closed = lane.close().then(() => events.push('closed'));
    await vi.advanceTimersByTimeAsync(5000);
    await closed;
    expect(events).toEqual(['sent', 'answered', 'closed']);
  });
});
