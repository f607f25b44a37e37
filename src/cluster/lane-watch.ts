import { ServiceError } from '../domain/errors.js';
import { PERIOD_MS } from '../throttle/rate.js';

const SPAN_MS = 10_000;
/** The part of the limit below which it is said that less can be used, and the part from which it is said that it can again. */
const ENOUGH = 0.9;
const AGAIN = 0.93;
/** Turns count as missed often from this part of those that were used. */
const OFTEN = 0.1;
/** One turn alone may be missed for many reasons. */
const MISSED_TO_GIVE_UP = 5;
const LEAST_GIVE_UP_MS = 30_000;

/** What a process knows of its turns when it has booked some. */
export interface LaneReach {
  /** How well it knows the store's clock: about as well as its shortest call was long. */
  readonly uncertaintyMs: number;
  /** How late its requests come. */
  readonly latenessMs: number;
  /** The slack of the lane: more than the two together, where another process needs more. */
  readonly slackMs: number;
}

/** Which part of its limit a lane that processes share can reach, and why no more: said within 20 seconds. Pure. */
export class LaneWatch {
  readonly #giveUpAfterMs: number;
  #reach: LaneReach = { uncertaintyMs: 0, latenessMs: 0, slackMs: 0 };
  #fromMs: number | undefined;
  #used = 0;
  #missed = 0;
  #share = 1;
  #isLow = false;
  #missedInRow = 0;
  #missedSinceMs = 0;

  constructor(giveUpAfterMs: number) {
    this.#giveUpAfterMs = Math.max(LEAST_GIVE_UP_MS, giveUpAfterMs);
  }

  get share(): number {
    return this.#share;
  }

  /** Throws where no request has left for too long, although each had its turn. */
  noteTurn(nowMs: number, isUsed: boolean): void {
    if (isUsed) {
      this.#used += 1;
      this.#missedInRow = 0;
      return;
    }
    this.#missed += 1;
    if (this.#missedInRow === 0) this.#missedSinceMs = nowMs;
    this.#missedInRow += 1;
    const forMs = nowMs - this.#missedSinceMs;
    if (forMs < this.#giveUpAfterMs || this.#missedInRow < MISSED_TO_GIVE_UP) return;
    const seconds = Math.round(forMs / 1000);
    throw new ServiceError('unavailable', `no request came in time to its turn for ${seconds} s: ${this.#explain()}`);
  }

  /** Takes what a call showed; returns what there is to say. */
  noteReach(nowMs: number, reach: LaneReach): string | undefined {
    this.#reach = reach;
    this.#fromMs ??= nowMs;
    const turns = this.#used + this.#missed;
    if (nowMs - this.#fromMs < SPAN_MS || turns === 0) return undefined;
    this.#share = ((PERIOD_MS / (PERIOD_MS + reach.slackMs)) * this.#used) / turns;
    const isChanged = this.#isLow ? this.#share >= AGAIN : this.#share < ENOUGH;
    const what = `${this.#share.toFixed(2)} of the limit can be used`;
    const said = this.#isLow ? `${what} again` : `${this.#explain()}: ${what}`;
    this.#isLow = isChanged !== this.#isLow;
    this.#fromMs = nowMs;
    this.#used = 0;
    this.#missed = 0;
    return isChanged ? said : undefined;
  }

  #explain(): string {
    const { uncertaintyMs, latenessMs, slackMs } = this.#reach;
    if (this.#missed > OFTEN * this.#used)
      return 'requests come too late to their turns: a machine, a disk or the database is slow at times';
    if (slackMs > 2 * (uncertaintyMs + latenessMs))
      return 'for another process the database is far, or its machine slow';
    if (latenessMs < uncertaintyMs) return `the database answers in ${Math.round(uncertaintyMs)} ms`;
    return `requests come up to ${Math.round(latenessMs)} ms late to their turns: this machine or its disk is slow`;
  }
}
