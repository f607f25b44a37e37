import { setMaxListeners } from 'node:events';
import pLimit, { type LimitFunction } from 'p-limit';
import { LaneStopped } from './gate.js';

/** The tasks of a lane: so many at once, until it is stopped; then those without a slot are rejected with `LaneStopped`. */
export class LaneSlots {
  /** Aborts when the lane is stopped. */
  readonly stopped: AbortSignal;
  readonly #limit: LimitFunction;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  /** `signal`: stops the lane, as `close` does. */
  constructor({ concurrency, signal }: { concurrency: number; signal: AbortSignal | undefined }) {
    this.#limit = pLimit({ concurrency, rejectOnClear: true });
    this.stopped = signal === undefined ? this.#closing.signal : AbortSignal.any([this.#closing.signal, signal]);
    // Each task that has a slot may wait for its turn: not a leak.
    setMaxListeners(0, this.stopped);
    this.stopped.addEventListener('abort', () => this.#limit.clearQueue(), { once: true });
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.stopped.aborted) throw new LaneStopped();
    let hasSlot = false;
    const result = this.#limit(() => {
      hasSlot = true;
      return task();
    });
    this.#running.add(result);
    try {
      return await result;
    } catch (error) {
      // Without a slot, it can only be p-limit's own error: its queue was cleared.
      throw hasSlot ? error : new LaneStopped();
    } finally {
      this.#running.delete(result);
    }
  }

  /** Stops the lane; resolves when the tasks that have a slot have ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
  }
}
