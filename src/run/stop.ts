import { setMaxListeners } from 'node:events';
import type { StopFault } from '../domain/errors.js';
import type { Stop } from '../journal/entry-format.js';

export type StopReason = Exclude<Stop['reason'], 'finished' | 'abandoned'>;

/**
 * Stops a run: first nothing new is sent, and requests in flight are awaited; `abandon` then cancels those too. The
 * first reason counts.
 */
export class StopSwitch {
  readonly #stopping = new AbortController();
  readonly #abandoning = new AbortController();
  /** Aborts when nothing new may be sent. */
  readonly nothingNew: AbortSignal = this.#stopping.signal;
  /** Aborts when what is in flight is no longer awaited. */
  readonly nothingMore: AbortSignal = this.#abandoning.signal;
  #reason: (Stop & { readonly reason: StopReason }) | undefined;

  constructor() {
    // Hundreds of requests in flight listen to both: not a leak.
    setMaxListeners(0, this.nothingNew, this.nothingMore);
  }

  get reason(): (Stop & { readonly reason: StopReason }) | undefined {
    return this.#reason;
  }

  get isRequested(): boolean {
    return this.#reason !== undefined;
  }

  request(reason: StopReason, detail: string, fault?: StopFault): void {
    this.#reason ??= { reason, detail, fault };
    this.#stopping.abort();
  }

  /**
   * Cancels requests in flight. Their outcome is then unknown: the next run repeats what may be repeated, queries
   * where the kind can, and the rest is in doubt.
   */
  abandon(): void {
    this.#abandoning.abort();
  }
}
