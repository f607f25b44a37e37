import { setMaxListeners } from 'node:events';
import pLimit, { type LimitFunction } from 'p-limit';
import { LaneStopped } from './gate.js';

/** The tasks of a lane: so many at once, until it is stopped; then those without a slot are rejected with `LaneStopped`. */
export class LaneSlots {
  readonly #limit: LimitFunction;
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #signal: AbortSignal | undefined;

  /** `signal`: stops the lane, as `close` does. */
  constructor({ concurrency, signal }: { concurrency: number; signal: AbortSignal | undefined }) {
    this.#limit = pLimit({ concurrency, rejectOnClear: true });
    this.#signal = signal;
    // Each task that has a slot may wait for its turn: not a leak.
    setMaxListeners(0, this.stopped);
    if (signal?.aborted) this.#stop();
    else signal?.addEventListener('abort', this.#stop, { once: true });
  }

  /** Aborts when the lane is stopped. */
  get stopped(): AbortSignal {
    return this.#stopping.signal;
  }

  set concurrency(count: number) {
    this.#limit.concurrency = count;
  }

  get inUse(): number {
    return this.#limit.activeCount;
  }

  get waiting(): number {
    return this.#limit.pendingCount;
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
    this.#stop();
    await Promise.allSettled(this.#running);
  }

  readonly #stop = (): void => {
    this.#stopping.abort();
    this.#limit.clearQueue();
    this.#signal?.removeEventListener('abort', this.#stop);
  };
}
