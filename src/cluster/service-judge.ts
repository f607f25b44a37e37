import type { Clock } from '../ports/clock.js';
import { Breaker } from '../run/send/breaker.js';
import { isUnknown } from '../run/send/send-part.js';
import type { EndedAttempt, RunNews } from './store.js';

const MAX_STEP_MS = 5_000;
/** A limit may be so slow that nothing is sent for longer than a run is to wait. */
const SLOW_TURNS = 5;

/**
 * Judges whether the workers of a run reach the service, since none of them may live for long enough to give up. Only by time: many
 * requests that end in doubt may be those of workers that were lost together. Where nothing at all is sent for as long, there is no
 * worker, or all of them have a reason that only they know.
 */
export class ServiceJudge {
  readonly #breaker: Breaker;
  #why = '';
  readonly #clock: Clock;
  readonly #idleForMs: number;
  #askedAtMs: number;
  /** Since nothing ended; what passed while the database was away, or this process stopped, is not of the workers. */
  #idleMs = 0;

  /** A worker that alone cannot reach it gives up before, and its requests are for others. */
  constructor(deps: {
    readonly clock: Clock;
    readonly random: () => number;
    readonly giveUpAfterMs: number;
    readonly requestsPerSecond: number;
  }) {
    this.#breaker = new Breaker(deps);
    this.#clock = deps.clock;
    this.#idleForMs = Math.max(deps.giveUpAfterMs, (SLOW_TURNS * 1000) / deps.requestsPerSecond);
    this.#askedAtMs = deps.clock.monotonicMs();
  }

  note({ result }: EndedAttempt): void {
    const isBad = result.kind === 'again' ? result.isDeferred !== true : isUnknown(result);
    if (!isBad) {
      this.#breaker.noteGood();
      return;
    }
    this.#breaker.noteBad(false);
    this.#why = result.kind === 'again' ? result.why : 'answers that account for no row';
  }

  /** Undefined while some worker may reach it. `isWaiting`: it is for workers to send something. */
  explainAbsence({ workers, ended, underWay }: RunNews, isWaiting: boolean): string | undefined {
    if (this.#breaker.shouldGiveUp) return `no worker reaches the service: ${this.#why}`;
    const nowMs = this.#clock.monotonicMs();
    this.#idleMs = isWaiting && ended.length === 0 ? this.#idleMs + Math.min(nowMs - this.#askedAtMs, MAX_STEP_MS) : 0;
    this.#askedAtMs = nowMs;
    if (this.#idleMs < this.#idleForMs) return undefined;
    const who =
      workers === 0 ? 'no worker is there' : `workers: ${workers}, of whose requests ${underWay} are under way`;
    return `nothing was sent for ${Math.round(this.#idleMs / 1000)} s; ${who}`;
  }
}
