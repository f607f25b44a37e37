import type { Limits } from '../job/limits.js';
import { PERIOD_MS } from './sliding-second.js';

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
