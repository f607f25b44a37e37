import type { Clock } from '../ports/clock.js';
import { Breaker } from '../run/send/breaker.js';
import { isUnknown } from '../run/send/send-part.js';
import type { EndedAttempt } from './store.js';

/**
 * Judges whether the workers of a run reach the service, since none of them may live for long enough to give up. Only by time: many
 * requests that end in doubt may be those of workers that were lost together.
 */
export class ServiceJudge {
  readonly #breaker: Breaker;
  readonly #ownGaveUp: () => string | undefined;
  #why = '';

  /** A worker that alone cannot reach it gives up before, and its requests are for others. `ownGaveUp`: why that of this process has. */
  constructor(
    deps: { readonly clock: Clock; readonly random: () => number; readonly giveUpAfterMs: number },
    ownGaveUp: () => string | undefined,
  ) {
    this.#breaker = new Breaker(deps);
    this.#ownGaveUp = ownGaveUp;
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

  /** Undefined while some worker may reach it. `workers`: how many there are. */
  explainAbsence(workers: number): string | undefined {
    if (this.#breaker.shouldGiveUp) return `no worker reaches the service: ${this.#why}`;
    return workers === 0 ? this.#ownGaveUp() : undefined;
  }
}
