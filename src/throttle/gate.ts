import { setMaxListeners } from 'node:events';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Clock } from '../ports/clock.js';
import type { Cost, Rate, SlidingSecond } from './rate.js';

/** Longest sleep before a wait is computed again, since pauses may change. */
export const MAX_SLEEP_MS = 250;

/** Microtask turns for a request to leave before the clock is read for the next one. */
const TURNS_TO_LEAVE = 8;

/** Runs right before a request leaves; if it rejects, the request does not leave. */
export type PreSendCheck = () => Promise<void>;

/** What the stages of a lane share. */
export interface LaneParts {
  readonly clock: Clock;
  readonly slidingSecond: SlidingSecond;
  readonly rate: Rate;
  readonly signal: AbortSignal;
}

/** The last stage before the network: releases requests in order of arrival, each at its turn. */
export class Gate {
  readonly #lane: LaneParts;
  #before: Promise<void> = Promise.resolve();
  #asked = 0;
  /** Requests up to this one are covered by the last check: they waited when it began, with no sleep since. */
  #checkedTo = 0;

  constructor(lane: LaneParts) {
    this.#lane = lane;
  }

  /**
   * Resolves at the moment at which the request, asked for since `askedMs`, may leave; rejects with LaneStopped when
   * it no longer may. `preSendCheck` is called at its turn, before the clock is read for it: however long it takes,
   * the rate holds. One check covers all requests that waited when it began and pass right behind it, so all checks of
   * a lane must be equivalent.
   */
  pass(cost: Cost, askedMs: number, preSendCheck?: PreSendCheck): Promise<void> {
    this.#asked += 1;
    const number = this.#asked;
    const passed = this.#before.then(async () => {
      const nowMs = await this.#awaitTurn(number, preSendCheck);
      this.#lane.slidingSecond.pass(nowMs, askedMs, this.#lane.rate.costMs(cost));
      this.#lane.rate.noteSent();
    });
    this.#before = passed.then(leave, leave);
    return passed;
  }

  async #awaitTurn(number: number, preSendCheck: PreSendCheck | undefined): Promise<number> {
    for (;;) {
      const nowMs = this.#lane.clock.monotonicMs();
      const waitMs = this.#lane.slidingSecond.nextMs(nowMs) - nowMs;
      if (this.#lane.signal.aborted) throw new LaneStopped();
      if (waitMs > 0) {
        this.#checkedTo = 0;
        await this.#lane.clock.sleep(Math.min(waitMs, MAX_SLEEP_MS), this.#lane.signal);
      } else if (preSendCheck !== undefined && this.#checkedTo < number) {
        const asked = this.#asked;
        await preSendCheck();
        this.#checkedTo = asked;
      } else return nowMs;
    }
  }
}

async function leave(): Promise<void> {
  for (let turn = 0; turn < TURNS_TO_LEAVE; turn++) await undefined;
}

/**
 * How a wait ends in a lane that was stopped: nothing of the request has been sent. Not a failure, and none of the
 * three kinds of error: the code that stopped the lane catches it.
 */
export class LaneStopped extends Error {
  override readonly name = 'LaneStopped';

  constructor() {
    super('The lane was stopped; the request was not sent');
  }
}

/** The tasks of a lane: so many at once, until it is stopped; then those without a slot are rejected with `LaneStopped`. */
export class LaneSlots {
  /** Aborts when the lane is stopped. */
  readonly stopped: AbortSignal;
  readonly #limit: LimitFunction;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  /** `signal`: stops the lane, as `close` does. */
  constructor({ concurrency, signal }: { concurrency: number; signal: AbortSignal | undefined }) {
    this.#limit = pLimit({ concurrency, rejectOnClear: true });
    this.stopped = signal === undefined ? this.#closing.signal : AbortSignal.any([this.#closing.signal, signal]);
    // Each task that has a slot may wait for its turn: not a leak.
    setMaxListeners(0, this.stopped);
    this.stopped.addEventListener('abort', () => this.#limit.clearQueue(), { once: true });
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.stopped.aborted) throw new LaneStopped();
    let hasSlot = false;
    const result = this.#limit(() => {
      hasSlot = true;
      return task();
    });
    this.#running.add(result);
    try {
      return await result;
    } catch (error) {
      // Without a slot, it can only be p-limit's own error: its queue was cleared.
      throw hasSlot ? error : new LaneStopped();
    } finally {
      this.#running.delete(result);
    }
  }

  /** Stops the lane; resolves when the tasks that have a slot have ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
  }
}
