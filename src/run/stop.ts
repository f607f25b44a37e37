import { setMaxListeners } from 'node:events';
import type { CloseReason } from '../journal/entry-format.js';

export type StopReason = Exclude<CloseReason, 'finished' | 'abandoned'>;

/**
 * Stops a run: first nothing new is sent, and requests in flight are awaited; `abandon` then cancels those too. The
 * first reason counts.
 */
export class StopSwitch {
  readonly #nothingNew = new AbortController();
  readonly #nothingMore = new AbortController();

  constructor() {
    // Hundreds of requests in flight listen to both: not a leak.
    setMaxListeners(0, this.nothingNew, this.nothingMore);
  }

  #reason: { readonly reason: StopReason; readonly detail: string } | undefined;

  get reason(): { readonly reason: StopReason; readonly detail: string } | undefined {
    return this.#reason;
  }

  get isRequested(): boolean {
    return this.#reason !== undefined;
  }

  /** Aborts when nothing new may be sent. */
  get nothingNew(): AbortSignal {
    return this.#nothingNew.signal;
  }

  /** Aborts when what is in flight is no longer awaited. */
  get nothingMore(): AbortSignal {
    return this.#nothingMore.signal;
  }

  request(reason: StopReason, detail: string): void {
    this.#reason ??= { reason, detail };
    this.#nothingNew.abort();
  }

  /**
   * Cancels requests in flight. Their outcome is then unknown: the next run repeats what may be repeated, queries
   * where the kind can, and the rest is in doubt.
   */
  abandon(): void {
    this.#nothingMore.abort();
  }
}
