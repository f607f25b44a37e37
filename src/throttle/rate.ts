import type { Limits } from '../job/limits.js';

/** What a request costs beside being one request. */
export interface Cost {
  readonly messages: number;
  readonly segments: number;
}

/** The lowest rate after slowdowns: a 64th of the limit, or one request in ten seconds if that is more. */
const LEAST_SHARE = 1 / 64;
const LEAST_REQUESTS_PER_SECOND = 0.1;
/** Share of the limits that a second of success wins back. */
const RECOVERY_PER_SECOND = 0.05;
const SECOND_MS = 1000;

/** How much of its limits a lane uses: all of it, halved by each refusal, won back by success. Limits are never exceeded. */
export class Rate {
  readonly #limits: Limits;
  #share = 1;
  #sentSinceSlowed = true;
  #slowedAtMs = Number.NEGATIVE_INFINITY;
  #succeededAtMs = Number.NEGATIVE_INFINITY;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get share(): number {
    return this.#share;
  }

  /** Milliseconds that must lie between a request and the next: the limit that it uses up most of decides. */
  costMs(cost: Cost): number {
    const { requestsPerSecond, messagesPerSecond, segmentsPerSecond } = this.#limits;
    const seconds = Math.max(
      1 / requestsPerSecond,
      messagesPerSecond === undefined ? 0 : cost.messages / messagesPerSecond,
      segmentsPerSecond === undefined ? 0 : cost.segments / segmentsPerSecond,
    );
    return (seconds * PERIOD_MS) / this.#share;
  }

  /** Halves the rate. All refusals of requests that were sent before the last halving are one event, and so are those within a second. */
  slowDown(nowMs: number): void {
    if (!this.#sentSinceSlowed || nowMs - this.#slowedAtMs < SECOND_MS) return;
    this.#share = Math.max(this.#share / 2, leastShareOf(this.#limits));
    this.#slowedAtMs = nowMs;
    this.#succeededAtMs = nowMs;
    this.#sentSinceSlowed = false;
  }

  noteSent(): void {
    this.#sentSinceSlowed = true;
  }

  /** Wins back 5 % of the limits for each second in which requests succeed; a time without any counts as one second at most. */
  noteSuccess(nowMs: number): void {
    const elapsedMs = Math.min(nowMs - this.#succeededAtMs, SECOND_MS);
    this.#succeededAtMs = nowMs;
    this.#share = Math.min(1, this.#share + (RECOVERY_PER_SECOND * elapsedMs) / SECOND_MS);
  }
}

/** What slowdowns leave of the limits at least. */
export function leastShareOf({ requestsPerSecond }: Limits): number {
  return Math.min(1, Math.max(LEAST_SHARE, LEAST_REQUESTS_PER_SECOND / requestsPerSecond));
}

const MAX_LOST_MS = 100;
export const CATCH_UP_SPACING = 0.5;
const CATCH_UP_SLACK_MS = 5;

/**
 * The second that limits are counted in, plus 6 ms of margin for varying delay between the gate and the service. Costs
 * are shares of it: the requests of one period may cost one period.
 */
export const PERIOD_MS = 1006;
/** Costs are sums of fractions; a request is a thousand times larger than this. */
const ROUNDING_MS = 1e-6;

/**
 * The turns at a lane's gate, one after the other, each as long after the last as the last one costs.
 * - A request that was there when its turn came keeps it, however late it is let go (a slow disk, timers, garbage collection,
 *   a busy processor), and those after it keep theirs. Lost time is caught up at twice the rate at most, in pieces of 10 ms
 *   (a timer is no more exact than a millisecond, and often 5 late); more than 100 ms of it is lost for good.
 * - A request that was not there takes its turn when it comes: idle time is not caught up.
 * - In no second do more pass than the limits say, whatever is to be caught up: what has passed in the last second counts.
 * Times are those of the clock that the caller reads; they must never go back.
 */
export class SlidingSecond {
  #turnMs: number;
  /** The fastest that lost time may be caught up: each request half of the last one's cost after it, timers forgiven. */
  #spacedMs = Number.NEGATIVE_INFINITY;
  readonly #passed: { readonly atMs: number; costMs: number }[] = [];
  #passedCostMs = 0;

  constructor(startMs: number) {
    this.#turnMs = startMs;
  }

  /** When the next request may pass: maybe already. */
  nextMs(nowMs: number): number {
    return Math.max(this.#turnMs, this.#spacedMs, this.#roomMs(nowMs));
  }

  /** Records that a request, waiting since `askedMs`, passes; `nextMs` must have come. */
  pass(nowMs: number, askedMs: number, costMs: number): void {
    this.#turnMs = Math.max(this.#turnMs, askedMs, nowMs - MAX_LOST_MS) + costMs;
    this.#spacedMs = Math.max(this.#spacedMs, nowMs - CATCH_UP_SLACK_MS) + costMs * CATCH_UP_SPACING;
    this.#passed.push({ atMs: nowMs, costMs });
    this.#passedCostMs += costMs;
  }

  /** A request that passed this long ago leaves only now, and counts from now on. */
  reportConnectDelay(nowMs: number, connectDelayMs: number, costMs: number): void {
    const passed = this.#passed.findLast(({ atMs, costMs: left }) => atMs <= nowMs - connectDelayMs && left > 0);
    if (passed !== undefined) {
      this.#passedCostMs -= passed.costMs;
      passed.costMs = 0;
    }
    this.#passed.push({ atMs: nowMs, costMs });
    this.#passedCostMs += costMs;
  }

  /** Lets nothing pass before this time. */
  holdUntil(timeMs: number): void {
    this.#turnMs = Math.max(this.#turnMs, timeMs);
  }

  /** When the last period has room again. A single request may exceed the limit, since it cannot be split. */
  #roomMs(nowMs: number): number {
    let oldest = this.#passed[0];
    while (oldest !== undefined && oldest.atMs <= nowMs - PERIOD_MS) {
      this.#passedCostMs = this.#passed.length === 1 ? 0 : this.#passedCostMs - oldest.costMs;
      this.#passed.shift();
      oldest = this.#passed[0];
    }
    const isFull = oldest !== undefined && this.#passedCostMs > PERIOD_MS - ROUNDING_MS;
    return isFull && oldest !== undefined ? oldest.atMs + PERIOD_MS : nowMs;
  }
}
