import type { Limits } from '../job/limits.js';
import type { Clock } from '../ports/clock.js';
import { Gate, LaneSlots, type PreSendCheck } from './gate.js';
import { Pacer } from './pacer.js';
import { type Cost, PERIOD_MS, Rate, SlidingSecond } from './rate.js';

/**
 * One rate-limited path to the service: an area with its credentials. A request goes through it in this order:
 *
 *     slot (p-limit: how many are in flight) → pace (bottleneck: when to begin) → the task, which makes its intent durable
 *     → gate (when to send) → the first byte
 *
 * - In any second, at most as many requests, messages and segments pass the gate as the limits say. What comes together
 *   in a request can't be parted: a second may hold one request more than fits when requests are of different size.
 * - A request costs the time that the limit it uses up most of gives it; the next one passes after that time.
 *   Time without requests is not saved up (rate.ts). A lane starts by waiting out the second after the
 *   last send of a process before it; where the limits give what was sent then more than a second, that time.
 * - A pause holds the gate for everything that waits; what has passed is not touched.
 * - A refusal halves the rate, success wins it back at 5 % a second (rate.ts).
 * - Stopped, by `close` or by its signal, the lane rejects with LaneStopped whatever has not passed the gate, and nothing else.
 */
export interface Lane {
  /**
   * Runs the task when the limits allow it. The task awaits `gate` immediately before its first byte leaves; each call
   * of `gate` costs again. The pre-send check is passed to the gate: run after it, it would make the rate uneven.
   */
  run<T>(cost: Cost, task: (gate: PassGate) => Promise<T>): Promise<T>;
  /**
   * Closes the gate for at least this long; up to a quarter more (5 s at most), so that lanes do not resume together. `isOwn`: the
   * service did not ask for it, so where processes share the lane the others go on.
   */
  pauseFor(delayMs: number, cause?: { readonly isOwn: boolean }): void;
  /** The service refused a request for its rate: halves the rate, once for all refusals of one moment. */
  slowDown(): void;
  /** The service accepted a request: recovers the rate gradually after `slowDown`, up to the limits. */
  noteSuccess(): void;
  /** Stops the lane; resolves when the tasks that have passed the gate have ended. */
  close(): Promise<void>;
  /** In (0, 1]: 1 when the lane uses all of its limits; absent where a stand-in does not say. */
  readonly share?: number;
  /** How long its gate stays closed by `pauseFor`, jitter aside; 0 or less where it is open, absent where a stand-in does not say. */
  readonly pausedMs?: number;
}

/** Resolves when a request may leave at once; rejects with the error of `preSendCheck`, and then nothing may leave. */
export type PassGate = (preSendCheck?: PreSendCheck) => Promise<ReportConnectDelay | undefined>;

/** Call it when the first byte leaves, with the time that it waited for a new connection. */
export type ReportConnectDelay = (connectDelayMs: number) => void;

export interface LaneOptions {
  readonly limits: Limits;
  readonly clock: Clock;
  readonly random: () => number;
  /** How long ago a process before this one sent through the same lane; undefined when it never did. */
  readonly lastSentMsAgo?: number | undefined;
  /** What the request that was sent then took of the limits, at most; absent: one message of one part. */
  readonly lastSize?: Cost | undefined;
  /** Stops the lane, as `close` does. */
  readonly signal?: AbortSignal | undefined;
}

const ONE_MESSAGE: Cost = { messages: 1, segments: 1 };
const MAX_JITTER_SHARE = 0.25;
const MAX_JITTER_MS = 5000;

export function createLane({ limits, clock, random, lastSentMsAgo, lastSize, signal }: LaneOptions): Lane {
  const slots = new LaneSlots({ concurrency: limits.concurrency, signal });
  const rate = new Rate(limits);
  const startMs = clock.monotonicMs();
  const slidingSecond = new SlidingSecond(startMs);
  if (lastSentMsAgo !== undefined) {
    const spanMs = Math.max(PERIOD_MS, rate.costMs(lastSize ?? ONE_MESSAGE));
    slidingSecond.holdUntil(startMs + spanMs - Math.max(0, lastSentMsAgo));
  }
  const deps = { clock, slidingSecond, rate, signal: slots.stopped };
  const pacer = new Pacer(deps);
  const gate = new Gate(deps);
  let pausedUntilMs = startMs;

  const runInSlot = async <T>(cost: Cost, task: (gate: PassGate) => Promise<T>): Promise<T> => {
    const begun = await pacer.enter(cost);
    try {
      return await task(async (preSendCheck) => {
        const askedMs = begun.ready();
        await gate.pass(cost, askedMs, preSendCheck);
        begun.leave(true);
        return (connectDelayMs) =>
          slidingSecond.reportConnectDelay(clock.monotonicMs(), connectDelayMs, rate.costMs(cost));
      });
    } finally {
      begun.leave(false);
    }
  };

  return {
    run: (cost, task) => slots.run(() => runInSlot(cost, task)),
    pauseFor: (delayMs) => {
      const jitterMs = random() * Math.min(delayMs * MAX_JITTER_SHARE, MAX_JITTER_MS);
      const untilMs = clock.monotonicMs() + delayMs;
      pausedUntilMs = Math.max(pausedUntilMs, untilMs);
      slidingSecond.holdUntil(untilMs + jitterMs);
    },
    slowDown: () => rate.slowDown(clock.monotonicMs()),
    noteSuccess: () => rate.noteSuccess(clock.monotonicMs()),
    close: () => slots.close(),
    get share() {
      return rate.share;
    },
    get pausedMs() {
      return pausedUntilMs - clock.monotonicMs();
    },
  };
}
