import type { Clock } from '../ports/clock.js';
import { isUnknown } from '../run/send/send-part.js';
import { UNREAD } from '../service/decide-answer.js';
import type { EndedAttempt, RunNews } from './store.js';

const MAX_STEP_MS = 5_000;
/** A limit may be so slow that nothing is sent for longer than a run is to wait. */
const SLOW_TURNS = 5;

/**
 * Judges whether the workers of a run reach the service, since none of them may live for long enough to give up. It goes by the time
 * without a good answer alone: many requests that end in doubt may be those of workers that were lost together. Where nothing at all is
 * sent for as long, there is no worker, or all of them have a reason that only they know.
 */
export class ServiceJudge {
  /** What was wrong with the last answer; undefined if it was good. */
  #why: string | undefined;
  readonly #clock: Clock;
  readonly #idleForMs: number;
  #askedAtMs: number;
  /** Time since the last good answer; what passed while the database was away, or this process stopped, does not count. */
  #idleMs = 0;

  /** `giveUpAfterMs`: a worker that alone cannot reach the service gives up before, and others send its requests. */
  constructor(deps: {
    readonly clock: Clock;
    readonly giveUpAfterMs: number;
    readonly requestsPerSecond: number;
  }) {
    this.#clock = deps.clock;
    this.#idleForMs = Math.max(deps.giveUpAfterMs, (SLOW_TURNS * 1000) / deps.requestsPerSecond);
    this.#askedAtMs = deps.clock.monotonicMs();
  }

  note({ result }: EndedAttempt): void {
    const isBad = result.kind === 'again' ? result.isDeferred !== true : isUnknown(result);
    this.#why = result.kind === 'again' ? result.why : UNREAD.why;
    if (isBad) return;
    this.#why = undefined;
    this.#idleMs = 0;
  }

  /** Why no worker reaches the service; undefined while some may. `isWaiting`: there is something for workers to send. */
  explainAbsence({ workers }: RunNews, isWaiting: boolean): string | undefined {
    const nowMs = this.#clock.monotonicMs();
    this.#idleMs = isWaiting ? this.#idleMs + Math.min(nowMs - this.#askedAtMs, MAX_STEP_MS) : 0;
    this.#askedAtMs = nowMs;
    if (this.#idleMs < this.#idleForMs) return undefined;
    if (this.#why !== undefined) return `no worker reaches the service: ${this.#why}`;
    const who = workers === 0 ? 'no worker is there' : `workers: ${workers}, whose logs say why`;
    return `nothing was sent for ${Math.round(this.#idleMs / 1000)} s; ${who}`;
  }
}
