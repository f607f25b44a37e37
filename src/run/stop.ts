import { setMaxListeners } from 'node:events';
import type { CloseReason } from '../journal/entry-format.js';

export type StopReason = Exclude<CloseReason, 'finished'>;

/**
 * How a run is told to stop: first nothing new is sent, what is in flight is awaited; `abandon` then ends even that.
 * The first reason stands.
 */
export class StopSwitch {
  readonly #nothingNew = new AbortController();
  readonly #nothingMore = new AbortController();

  constructor() {
    // Each request in flight listens to both, and there may be hundreds: that is no leak.
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
   * Ends what is in flight. Its outcome is unknown then: the next run sends again what may be repeated, asks where the kind
   * can, and the rest is in doubt.
   */
  abandon(): void {
    this.#nothingMore.abort();
  }
}
