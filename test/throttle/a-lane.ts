import { afterEach, beforeEach, vi } from 'vitest';
import type { Limits } from '../../src/job/limits.js';
import { systemClock } from '../../src/ports/clock.js';
import { LaneStopped } from '../../src/throttle/gate.js';
import { createLane, type Lane, type LaneOptions } from '../../src/throttle/lane.js';

const lanes: Lane[] = [];

/** Date, performance and setTimeout are faked in the tests of a file: time passes only by advanceTimersByTimeAsync. */
export function useFakeTime(): void {
  beforeEach(() => {
    vi.useFakeTimers({ now: 1_800_000_000_000 });
  });
  afterEach(async () => {
    for (const lane of lanes.splice(0)) await close(lane);
    vi.useRealTimers();
  });
}

/** Tasks in flight end while time goes on. */
export async function close(lane: Lane): Promise<void> {
  const closed = lane.close();
  await vi.advanceTimersByTimeAsync(1000);
  await closed;
}

export const LATENCY_MS = 20;

export function aLimits(limits: Partial<Limits> = {}): Limits {
  return {
    requestsPerSecond: 10,
    messagesPerSecond: undefined,
    segmentsPerSecond: undefined,
    concurrency: 64,
    ...limits,
  };
}

export function aLane(limits: Partial<Limits> = {}, options: Partial<LaneOptions> = {}): Lane {
  const lane = createLane({ limits: aLimits(limits), clock: systemClock, random: () => 0, ...options });
  lanes.push(lane);
  return lane;
}

export interface Sent {
  readonly name: number;
  /** Since the test began. */
  readonly atMs: number;
  readonly messages: number;
}

export interface Load {
  readonly messages?: number;
  /** How long a task makes its intent durable, by its number. */
  readonly prepareMs?: (name: number) => number;
  /** How long the connection takes that a task has to make first, by its number; 0 where it has one. */
  readonly connectMs?: (name: number) => number;
}

/** Sends through the lane and notes what passed the gate and when. */
export function aSender(lane: Lane, { messages = 1, prepareMs = () => 1, connectMs = () => 0 }: Load = {}) {
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
        const reportConnectDelay = await gate();
        const connectDelayMs = connectMs(name);
        if (connectDelayMs > 0) {
          await systemClock.sleep(connectDelayMs);
          reportConnectDelay?.(connectDelayMs);
        }
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
export function mostInASecond(sent: readonly Sent[]): number {
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
export function rateOf(sent: readonly Sent[]): number {
  const [first, last] = [sent[0], sent.at(-1)];
  if (first === undefined || last === undefined) return 0;
  return ((sent.length - 1) * first.messages) / ((last.atMs - first.atMs) / 1000);
}

/** Whatever a disk may do: 0.2 to 20 ms, without a pattern, the same in every run. */
export const unevenDisk = (name: number) => 0.2 + ((name * 7919) % 199) / 10;
