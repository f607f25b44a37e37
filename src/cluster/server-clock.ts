/** Clocks drift apart by less than this, milliseconds a millisecond: also while one of them is being set slowly. */
const DRIFT = 0.0006;

/**
 * Where moments of the store's clock lie on this process's monotonic clock. A call says that the store's moment lay between
 * its start and its end; the shortest calls say most. Pure.
 */
export class ServerClock {
  /** The store's clock added to it gives the local one: at least, and at most. */
  #least = Number.NEGATIVE_INFINITY;
  #most = Number.POSITIVE_INFINITY;
  #notedMs = 0;

  note(storeMs: number, startMs: number, endMs: number): void {
    const driftMs = Math.max(0, endMs - this.#notedMs) * DRIFT;
    this.#notedMs = endMs;
    this.#least = Math.max(this.#least - driftMs, startMs - storeMs);
    this.#most = Math.min(this.#most + driftMs, endMs - storeMs);
    if (this.#least <= this.#most) return;
    // One of the clocks was set.
    this.#least = startMs - storeMs;
    this.#most = endMs - storeMs;
  }

  toLocal(storeMs: number): { readonly earliestMs: number; readonly latestMs: number } {
    return { earliestMs: storeMs + this.#least, latestMs: storeMs + this.#most };
  }
}
