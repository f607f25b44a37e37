import Bottleneck from 'bottleneck';
import pLimit from 'p-limit';
import { type LaneParts, LaneStopped, MAX_SLEEP_MS } from './gate.js';
import { CATCH_UP_SPACING, type Cost } from './rate.js';

/**
 * Says when each task begins, which then makes its intent durable and asks the gate: shortly before its turn there, since an
 * intent must not stay open during a pause.
 *
 * bottleneck spreads them over the second. A job of it is a block of requests, 20 ms of them where they come faster than that: it runs
 * 443 jobs a second at most, and on a busy machine, where each of its three timers comes late, far fewer. Its `minTime` is half of what
 * the limit gives a block, since lost time may be caught up at twice the rate (rate.ts): with all of it, what a late
 * timer loses is lost for good, a fifth of the rate where other work has the processors. The gate proves that no second has more than the limit.
 */
const BLOCK_MS = 20;
/** A task begins at most this long, plus its preparation, before its turn. */
const MAX_AHEAD_MS = 30;
/** Initial estimate: an fsync of a local disk. */
const FIRST_PREPARATION_MS = 5;
/** A disk that hangs must not make the whole queue begin. */
const MAX_PREPARATION_MS = 500;
/** How fast the estimated preparation time decays, per faster task. */
const FORGETTING = 0.05;
/** bottleneck waits on the wall clock: where that was set back, its next job would come hours late. */
const STALLED_MS = 1000;
/** Time is a sum of fractions; no request costs as little as this. */
const ROUNDING_MS = 1e-6;

/** A task that has begun. */
export interface Begun {
  /** Call it when the task reaches the gate; returns since when it has asked for its turn. */
  ready(): number;
  /** Call it when the task has passed the gate, or ended without. */
  leave(hasPassed: boolean): void;
}

export class Pacer {
  readonly #lane: LaneParts;
  readonly #line = pLimit(1);
  #limiter = new Bottleneck();
  /** What is left of the block that tasks may begin in. */
  #leftMs = 0;
  #wake = () => {};
  /** Cost of the tasks that have begun and have not passed the gate. */
  #begunMs = 0;
  #preparationMs = FIRST_PREPARATION_MS;

  constructor(lane: LaneParts) {
    this.#lane = lane;
    this.#lane.signal.addEventListener('abort', () => this.#wake(), { once: true });
  }

  /** Resolves when a task of this cost may begin, in the order of the calls; rejects with LaneStopped when it no longer may. */
  enter(cost: Cost): Promise<Begun> {
    const askedMs = this.#lane.clock.monotonicMs();
    return this.#line(async () => {
      for (;;) {
        if (this.#lane.signal.aborted) throw new LaneStopped();
        const aheadMs = this.#turnMs() - this.#preparationMs - MAX_AHEAD_MS;
        if (aheadMs > 0) await this.#sleep(Math.min(aheadMs, MAX_SLEEP_MS));
        else if (this.#leftMs <= ROUNDING_MS) await this.#awaitBlock();
        else return this.#begin(cost, askedMs);
      }
    });
  }

  #begin(cost: Cost, askedMs: number): Begun {
    const atMs = this.#lane.clock.monotonicMs();
    const costMs = this.#lane.rate.costMs(cost);
    this.#leftMs -= costMs;
    this.#begunMs += costMs;
    let hasLeft = false;
    return {
      ready: () => {
        const nowMs = this.#lane.clock.monotonicMs();
        if (hasLeft) return nowMs;
        const tookMs = Math.min(nowMs - atMs, MAX_PREPARATION_MS);
        const isSlower = tookMs > this.#preparationMs;
        this.#preparationMs += (tookMs - this.#preparationMs) * (isSlower ? 1 : FORGETTING);
        return askedMs;
      },
      leave: (hasPassed) => {
        if (hasLeft) return;
        hasLeft = true;
        this.#begunMs -= costMs;
        if (!hasPassed) this.#leftMs += costMs;
        this.#wake();
      },
    };
  }

  /** How long until the next turn at the gate that no task has begun for. */
  #turnMs(): number {
    const nowMs = this.#lane.clock.monotonicMs();
    return Math.max(this.#lane.slidingSecond.nextMs(nowMs) - nowMs, 0) + this.#begunMs;
  }

  async #awaitBlock(): Promise<void> {
    const requestMs = this.#lane.rate.costMs({ messages: 0, segments: 0 });
    const blockMs = requestMs * Math.ceil(BLOCK_MS / requestMs);
    let isDue = false;
    void this.#limiter.updateSettings({ minTime: blockMs * CATCH_UP_SPACING });
    const job = async () => {
      isDue = true;
      this.#wake();
    };
    // Rejects when the limiter is stopped.
    this.#limiter.schedule(job).catch(() => undefined);
    const untilMs = this.#lane.clock.monotonicMs() + blockMs + STALLED_MS;
    for (let leftMs = untilMs; !isDue && !this.#lane.signal.aborted && leftMs > 0; ) {
      leftMs = untilMs - this.#lane.clock.monotonicMs();
      await this.#sleep(leftMs);
    }
    if (!isDue) {
      void this.#limiter.stop({ dropWaitingJobs: true });
      this.#limiter = new Bottleneck();
    }
    this.#leftMs = blockMs;
  }

  /** Sleeps; ends early when something may have changed. */
  async #sleep(delayMs: number): Promise<void> {
    const woken = new AbortController();
    // With a reason: otherwise an error with a stack is created each time.
    this.#wake = () => woken.abort('woken');
    await this.#lane.clock.sleep(delayMs, woken.signal);
  }
}
