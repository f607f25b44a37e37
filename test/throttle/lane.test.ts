import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Clock, systemClock } from '../../src/clock.js';
import type { Limits } from '../../src/job/job.js';
import { createLane, type Lane, type LaneOptions } from '../../src/throttle/lane.js';
import { LaneStopped } from '../../src/throttle/lane-stopped.js';

// Date, performance and setTimeout are faked: time passes only by advanceTimersByTimeAsync.
beforeEach(() => {
  vi.useFakeTimers({ now: 1_800_000_000_000 });
});
afterEach(async () => {
  for (const lane of lanes.splice(0)) await close(lane);
  vi.useRealTimers();
});

const lanes: Lane[] = [];

/** Tasks in flight end while time goes on. */
async function close(lane: Lane): Promise<void> {
  const closed = lane.close();
  await vi.advanceTimersByTimeAsync(1000);
  await closed;
}

const LATENCY_MS = 20;

function aLimits(limits: Partial<Limits> = {}): Limits {
  return {
    requestsPerSecond: 10,
    messagesPerSecond: undefined,
    segmentsPerSecond: undefined,
    concurrency: 64,
    ...limits,
  };
}

function aLane(limits: Partial<Limits> = {}, options: Partial<LaneOptions> = {}): Lane {
  const lane = createLane({ limits: aLimits(limits), clock: systemClock, random: () => 0, ...options });
  lanes.push(lane);
  return lane;
}

interface Sent {
  readonly name: number;
  /** Since the test began. */
  readonly atMs: number;
  readonly messages: number;
}

interface Load {
  readonly messages?: number;
  /** How long a task makes its intent durable, by its number. */
  readonly prepareMs?: (name: number) => number;
}

/** Sends through the lane and notes what passed the gate and when. */
function aSender(lane: Lane, { messages = 1, prepareMs = () => 1 }: Load = {}) {
  const startMs = performance.now();
  const sent: Sent[] = [];
  const begun: number[] = [];
  const stopped: number[] = [];
  let next = 0;
  const send = async () => {
    const name = next++;
    try {
      await lane.run({ messages, segments: messages }, async (gate) => {
        begun.push(performance.now() - startMs);
        await systemClock.sleep(prepareMs(name));
        await gate();
        sent.push({ name, atMs: performance.now() - startMs, messages });
        await systemClock.sleep(LATENCY_MS);
      });
    } catch (error) {
      if (!(error instanceof LaneStopped)) throw error;
      stopped.push(name);
    }
  };
  return {
    sent,
    begun,
    stopped,
    times: () => sent.map(({ atMs }) => atMs),
    sendMany: (count: number) => Promise.all(Array.from({ length: count }, send)),
  };
}

/** The most messages in any second, [t, t + 1000 ms). */
function mostInASecond(sent: readonly Sent[]): number {
  let most = 0;
  let sum = 0;
  let oldest = 0;
  for (const { atMs, messages } of sent) {
    sum += messages;
    for (let first = sent[oldest]; first !== undefined && atMs - first.atMs >= 1000; first = sent[++oldest]) {
      sum -= first.messages;
    }
    most = Math.max(most, sum);
  }
  return most;
}

/** Messages a second, from the first to the last. */
function rateOf(sent: readonly Sent[]): number {
  const [first, last] = [sent[0], sent.at(-1)];
  if (first === undefined || last === undefined) return 0;
  return ((sent.length - 1) * first.messages) / ((last.atMs - first.atMs) / 1000);
}

/** Whatever a disk may do: 0.2 to 20 ms, without a pattern, the same in every run. */
const unevenDisk = (name: number) => 0.2 + ((name * 7919) % 199) / 10;

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
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(100);
    expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual(100);
  });
});

describe('the rate of a lane', () => {
  test.each([
    [5, 1, 5],
    [50, 1, 5],
    [500, 1, 4],
    [1500, 1, 3],
    [1800, 1000, 5],
  ])(
    'of %d requests a second with %d messages each is reached and never exceeded in any second',
    async (requestsPerSecond, messages, seconds) => {
      const lane = aLane({
        requestsPerSecond,
        messagesPerSecond: messages === 1 ? undefined : 10_000,
        concurrency: 256,
      });
      const { sent, sendMany } = aSender(lane, { messages, prepareMs: unevenDisk });
      const perSecond = messages === 1 ? requestsPerSecond : 10_000;
      void sendMany(Math.ceil((perSecond / messages) * (seconds + 2)));
      await vi.advanceTimersByTimeAsync(seconds * 1000);
      expect(mostInASecond(sent)).toBeLessThanOrEqual(perSecond);
      expect(rateOf(sent)).toBeGreaterThan(perSecond * 0.99);
    },
  );

  test('is not exceeded, and not lost, by a machine whose timers come late', async () => {
    let seed = 1;
    const lateClock: Clock = {
      ...systemClock,
      sleep: (delayMs, signal) => {
        seed = (seed * 16807) % 2147483647;
        const lateMs = seed % 10 === 0 ? 30 : seed % 4;
        return systemClock.sleep(delayMs + lateMs, signal);
      },
    };
    const lane = aLane({ requestsPerSecond: 200, concurrency: 256 }, { clock: lateClock });
    const { sent, sendMany } = aSender(lane, { prepareMs: unevenDisk });
    void sendMany(3000);
    await vi.advanceTimersByTimeAsync(8000);
    expect(mostInASecond(sent)).toBeLessThanOrEqual(200);
    expect(rateOf(sent)).toBeGreaterThan(200 * 0.95);
  });

  test('counts messages and segments where they are the narrower limit', async () => {
    const lane = aLane({ requestsPerSecond: 100, messagesPerSecond: 1000, segmentsPerSecond: 400 });
    const { sent, sendMany } = aSender(lane, { messages: 100 });
    void sendMany(20);
    await vi.advanceTimersByTimeAsync(3000);
    expect(mostInASecond(sent)).toBe(400);
  });

  test('does not burst after idle time', async () => {
    const lane = aLane({ requestsPerSecond: 10 });
    const { times, sendMany } = aSender(lane);
    void sendMany(1);
    await vi.advanceTimersByTimeAsync(60_000);
    void sendMany(5);
    await vi.advanceTimersByTimeAsync(2000);
    const gaps = times()
      .slice(1)
      .map((atMs, index) => atMs - (times()[index] ?? 0));
    expect(gaps).toHaveLength(5);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(100);
  });

  test('follows changed limits, down and up, without exceeding the higher one in between', async () => {
    const lane = aLane({ requestsPerSecond: 50 });
    const { sent, times, sendMany } = aSender(lane);
    void sendMany(400);
    await vi.advanceTimersByTimeAsync(2000);
    lane.setLimits(aLimits({ requestsPerSecond: 5 }));
    await vi.advanceTimersByTimeAsync(4000);
    lane.setLimits(aLimits({ requestsPerSecond: 50 }));
    await vi.advanceTimersByTimeAsync(2000);
    expect(mostInASecond(sent)).toBeLessThanOrEqual(50);
    expect(mostInASecond(sent.filter(({ atMs }) => atMs >= 2000 && atMs < 6000))).toBeLessThanOrEqual(6);
    expect(times().filter((atMs) => atMs >= 6300).length).toBeGreaterThan(80);
  });

  test('is reached with more in flight when the limits raise the concurrency', async () => {
    const lane = aLane({ requestsPerSecond: 200, concurrency: 1 });
    const { times, sendMany } = aSender(lane);
    void sendMany(600);
    await vi.advanceTimersByTimeAsync(1000);
    expect(times().length).toBeLessThan(60);
    lane.setLimits(aLimits({ requestsPerSecond: 200, concurrency: 32 }));
    await vi.advanceTimersByTimeAsync(1000);
    expect(times().filter((atMs) => atMs >= 1000).length).toBeGreaterThan(180);
  });

  test('of a lane that was told to slow down is half, and comes back with success', async () => {
    const lane = aLane({ requestsPerSecond: 20 });
    const { sent, times, sendMany } = aSender(lane);
    void sendMany(400);
    await vi.advanceTimersByTimeAsync(1000);
    lane.slowDown();
    lane.slowDown();
    expect(lane.state).toMatchObject({ share: 0.5, requestsPerSecond: 10 });
    await vi.advanceTimersByTimeAsync(3000);
    expect(mostInASecond(sent.filter(({ atMs }) => atMs > 1100))).toBe(10);
    for (let second = 0; second < 15; second++) {
      await vi.advanceTimersByTimeAsync(1000);
      lane.noteSuccess();
    }
    expect(lane.state.share).toBe(1);
    const before = times().length;
    await vi.advanceTimersByTimeAsync(1000);
    expect(times().length - before).toBeGreaterThanOrEqual(19);
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
    expect(lane.state.pausedForMs).toBe(3000);
    await vi.advanceTimersByTimeAsync(3000);
    expect(times().filter((atMs) => atMs > 1000 && atMs < 4000)).toEqual([]);
    await vi.advanceTimersByTimeAsync(1500);
    expect(times().filter((atMs) => atMs >= 4000).length).toBeGreaterThan(70);
    expect(mostInASecond(sent)).toBeLessThanOrEqual(50);
    expect(lane.state.pausedForMs).toBe(0);
  });

  test.each([
    [1000, 0.5, 1125],
    [60_000, 0.5, 62_500],
    [0, 0.999, 0],
  ])('of %d ms is made longer by jitter, never shorter', (delayMs, random, pausedForMs) => {
    const lane = aLane({}, { random: () => random });
    lane.pauseFor(delayMs);
    expect(lane.state.pausedForMs).toBeCloseTo(pausedForMs);
  });
});

describe('a restart', () => {
  test.each([
    [undefined, 0],
    [0, 1000],
    [300, 700],
    [1500, 0],
    // The wall clock was set back meanwhile.
    [-5000, 1000],
  ])('%d ms after the last send waits out what is left of the second: %d ms', async (lastSentMsAgo, waitMs) => {
    const lane = aLane({ requestsPerSecond: 100 }, { lastSentMsAgo });
    const { times, sendMany } = aSender(lane, { prepareMs: () => 0 });
    void sendMany(1);
    await vi.advanceTimersByTimeAsync(2000);
    expect(times()[0]).toBeGreaterThanOrEqual(waitMs);
    expect(times()[0]).toBeLessThan(waitMs + 30);
  });
});

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

describe('a lane on a machine', () => {
  test('sets no timer when nobody waits', async () => {
    const lane = aLane({ requestsPerSecond: 100 });
    const { sendMany } = aSender(lane);
    void sendMany(50);
    await vi.advanceTimersByTimeAsync(2000);
    expect(vi.getTimerCount()).toBe(0);
    await close(lane);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('goes on when the wall clock is set back by an hour', async () => {
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

  test('shows what it does in its state', async () => {
    const lane = aLane({ requestsPerSecond: 10, concurrency: 4 });
    const { sendMany } = aSender(lane);
    void sendMany(10);
    await vi.advanceTimersByTimeAsync(10);
    expect(lane.state).toEqual({ requestsPerSecond: 10, share: 1, inFlight: 1, waiting: 9, pausedForMs: 0 });
  });
});
