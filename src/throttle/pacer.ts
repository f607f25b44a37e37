import Bottleneck from 'bottleneck';
import type { Clock } from '../ports/clock.js';
import { LaneStopped, MAX_SLEEP_MS } from './gate.js';
import type { Cost, Rate } from './rate.js';
import type { SlidingSecond } from './sliding-second.js';

/**
 * Spreads requests over the second: says when each task begins, which then makes its intent durable and asks the gate.
 *
 * bottleneck does the pacing. Its `minTime` is the time that the limits give a request, and each of its jobs hands out that time:
 * a task begins when there is some, and takes what its request costs. `updateSettings` follows the lane's share of its limits.
 * The gate behind it proves the limit (sliding-second.ts), and seldom holds a request that began in time.
 *
 * Where a plain use of the library is not exact enough:
 * - It runs 443 jobs a second at most, so a job hands out a block of 10 ms where requests come faster than that.
 * - `minTime` ignores weights. What a batch costs beyond a block is owed, and handed out by the next jobs.
 * - A job that is scheduled when the one before it has run begins late by what the timer was late. Some are always scheduled ahead.
 * - It waits on the wall clock. Where that was set back its next job would come hours late: then it is made anew.
 * - `maxConcurrent` stays unused: a job ends at once. How many requests are in flight is p-limit's to say (lane.ts).
 */
const BLOCK_MS = 10;
/** Time scheduled ahead: lateness up to this does not reduce the rate. */
const SCHEDULED_AHEAD_MS = 100;
/**
 * A task begins at most this long, plus its preparation, before its turn at the gate: an intent must not stay open
 * during a pause.
 */
const MAX_AHEAD_MS = 40;
/** Initial estimate: an fsync of a local disk. */
const FIRST_PREPARATION_MS = 5;
/** A disk that hangs must not make the whole queue begin. */
const MAX_PREPARATION_MS = 500;
/** How fast the estimated preparation time decays, per faster task. */
const FORGETTING = 0.05;
const STALLED_MS = 1000;
/** Time is a sum of fractions; no request costs as little as this. */
const ROUNDING_MS = 1e-6;

/** A task that has begun. */
export interface Begun {
  readonly costMs: number;
  readonly askedMs: number;
  readonly atMs: number;
}

interface Waiting {
  readonly cost: Cost;
  readonly askedMs: number;
  readonly begin: (begun: Begun) => void;
  readonly refuse: (reason: LaneStopped) => void;
}

export class Pacer {
  readonly #clock: Clock;
  readonly #slidingSecond: SlidingSecond;
  readonly #rate: Rate;
  readonly #signal: AbortSignal;
  readonly #queue: Waiting[] = [];
  #limiter = new Bottleneck();
  #minTimeMs = 0;
  /** Pending jobs. */
  #scheduled = 0;
  /** Time handed out and not taken; below zero, time that was taken and is owed. */
  #timeMs = 0;
  #handedOutAtMs = Number.NEGATIVE_INFINITY;
  #wake = () => {};
  #isBeating = false;
  /** Cost of the tasks that have begun and have not passed the gate. */
  #begunMs = 0;
  #preparationMs = FIRST_PREPARATION_MS;

  constructor(deps: { clock: Clock; slidingSecond: SlidingSecond; rate: Rate; signal: AbortSignal }) {
    this.#clock = deps.clock;
    this.#slidingSecond = deps.slidingSecond;
    this.#rate = deps.rate;
    this.#signal = deps.signal;
    this.#signal.addEventListener('abort', () => this.#stopLimiter(), { once: true });
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** Resolves when a task of this cost may begin, in the order of the calls; rejects with LaneStopped when it no longer may. */
  enter(cost: Cost): Promise<Begun> {
    return new Promise((begin, refuse) => {
      if (this.#signal.aborted) return refuse(new LaneStopped());
      this.#queue.push({ cost, askedMs: this.#clock.monotonicMs(), begin, refuse });
      if (!this.#isBeating) void this.#beat();
    });
  }

  /** Call it when a task that has begun reaches the gate. */
  noteReady(begun: Begun): void {
    const tookMs = Math.min(this.#clock.monotonicMs() - begun.atMs, MAX_PREPARATION_MS);
    const isSlower = tookMs > this.#preparationMs;
    this.#preparationMs += (tookMs - this.#preparationMs) * (isSlower ? 1 : FORGETTING);
  }

  /** Call it once for each task that has begun: when it has passed the gate, or ended before. */
  leave(begun: Begun, hasPassed: boolean): void {
    this.#begunMs -= begun.costMs;
    if (!hasPassed) this.#timeMs += begun.costMs;
    this.#wake();
  }

  /** Call it when the limits have changed: the old schedule may lie far ahead. */
  restart(): void {
    this.#stopLimiter();
    this.#limiter = new Bottleneck();
    this.#minTimeMs = 0;
    this.#scheduled = 0;
    this.#wake();
  }

  async #beat(): Promise<void> {
    this.#isBeating = true;
    let mayBorrow = this.#endIdleTime();
    for (let head = this.#queue[0]; head !== undefined; head = this.#queue[0]) {
      const aheadMs = this.#turnMs() - this.#preparationMs - MAX_AHEAD_MS;
      if (this.#signal.aborted) {
        this.#queue.shift();
        head.refuse(new LaneStopped());
      } else if (aheadMs > 0) {
        // A late gate catches up: the time handed out meanwhile is not lost.
        if (aheadMs < SCHEDULED_AHEAD_MS) this.#topUp();
        await this.#sleep(Math.min(aheadMs, MAX_SLEEP_MS));
      } else if (mayBorrow || this.#timeMs + this.#leadMs() > ROUNDING_MS) {
        mayBorrow = false;
        this.#queue.shift();
        this.#begin(head);
      } else await this.#awaitBlock();
    }
    this.#isBeating = false;
  }

  #begin({ cost, askedMs, begin }: Waiting): void {
    const costMs = this.#rate.costMs(cost);
    this.#timeMs -= costMs;
    this.#begunMs += costMs;
    begin({ costMs, askedMs, atMs: this.#clock.monotonicMs() });
  }

  /** How long until the next turn at the gate that no task has begun for. */
  #turnMs(): number {
    const nowMs = this.#clock.monotonicMs();
    return Math.max(this.#slidingSecond.nextMs(nowMs) - nowMs, 0) + this.#begunMs;
  }

  /** Tasks whose cost is less than their preparation begin ahead, so that uneven preparations come in time to an even gate. */
  #leadMs(): number {
    return Math.max(0, this.#preparationMs - this.#rate.requestMs);
  }

  /**
   * Unused time is lost, and owed time is paid by waiting. True if the limiter would hand out at once: the first task
   * need not wait for it.
   */
  #endIdleTime(): boolean {
    const nowMs = this.#clock.monotonicMs();
    const idleMs = nowMs - this.#handedOutAtMs;
    if (idleMs < this.#minTimeMs) return false;
    this.#handedOutAtMs = nowMs;
    this.#timeMs = Math.min(0, this.#timeMs + idleMs);
    if (this.#timeMs < 0) return false;
    this.#schedule();
    return true;
  }

  /** Two jobs at least: the time of the second is set before the first is late. */
  #topUp(): void {
    const ahead = Math.max(2, Math.ceil(SCHEDULED_AHEAD_MS / Math.max(BLOCK_MS, this.#minTimeMs)));
    while (this.#scheduled < ahead) this.#schedule();
  }

  async #awaitBlock(): Promise<void> {
    this.#topUp();
    const limiter = this.#limiter;
    const isStalled = await this.#sleep(2 * this.#minTimeMs + STALLED_MS);
    if (isStalled && limiter === this.#limiter && !this.#signal.aborted) this.restart();
  }

  #schedule(): void {
    const blockMs = this.#rate.requestMs * Math.ceil(BLOCK_MS / this.#rate.requestMs);
    if (blockMs !== this.#minTimeMs) {
      this.#minTimeMs = blockMs;
      void this.#limiter.updateSettings({ minTime: blockMs });
    }
    this.#scheduled += 1;
    const handOut = async () => {
      this.#scheduled -= 1;
      this.#handedOutAtMs = this.#clock.monotonicMs();
      const mostMs = this.#queue.length > 0 ? Math.max(blockMs, SCHEDULED_AHEAD_MS) : blockMs;
      this.#timeMs = Math.min(this.#timeMs + blockMs, mostMs);
      this.#wake();
    };
    // A job rejects only when its limiter is replaced.
    this.#limiter.schedule(handOut).catch(() => undefined);
  }

  /** Ends early when something may have changed; true when nothing did. */
  async #sleep(delayMs: number): Promise<boolean> {
    const woken = new AbortController();
    // With a reason: otherwise an error with a stack is created each time.
    this.#wake = () => woken.abort('woken');
    await this.#clock.sleep(delayMs, woken.signal);
    return !woken.signal.aborted;
  }

  #stopLimiter(): void {
    void this.#limiter.stop({ dropWaitingJobs: true });
    this.#wake();
  }
}
