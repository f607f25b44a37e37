import type { Clock } from '../../../src/ports/clock.js';
import { NOON } from '../sandbox-client.js';

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** Stands at noon; who sleeps wakes when `advance` has passed its time. */
export class ManualClock implements Clock {
  #passed = 0;
  #sleepers: Sleeper[] = [];
  #waiting: { count: number; tell: () => void }[] = [];

  now(): number {
    return NOON + this.#passed;
  }

  monotonicMs(): number {
    return this.#passed;
  }

  /** How many sleep. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const sleeper = { dueMs: this.#passed + delayMs, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        resolve();
      });
      for (const { count, tell } of this.#waiting) if (count <= this.#sleepers.length) tell();
    });
  }

  /** Resolves when so many sleep. */
  async sleepers(count: number): Promise<void> {
    if (this.#sleepers.length < count) await new Promise<void>((tell) => this.#waiting.push({ count, tell }));
  }

  advance(delayMs: number): void {
    this.#passed += delayMs;
    const due = this.#sleepers.filter(({ dueMs }) => dueMs <= this.#passed);
    this.#sleepers = this.#sleepers.filter(({ dueMs }) => dueMs > this.#passed);
    for (const { wake } of due) wake();
  }
}
