import type { Clock } from '../../src/ports/clock.js';

/** Time that passes only when the test says so. */
export class FakeClock implements Clock {
  wallMs: number;
  steadyMs = 5000;
  readonly #sleepers = new Set<{ untilMs: number; wake: () => void }>();
  #onSleep: (() => void)[] = [];

  constructor(wallMs = 1_800_000_000_000) {
    this.wallMs = wallMs;
  }

  /** How many sleep. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  now(): number {
    return this.wallMs;
  }

  monotonicMs(): number {
    return this.steadyMs;
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const sleeper = {
        untilMs: this.steadyMs + delayMs,
        wake: () => {
          this.#sleepers.delete(sleeper);
          signal?.removeEventListener('abort', sleeper.wake);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', sleeper.wake, { once: true });
      const listeners = this.#onSleep;
      this.#onSleep = [];
      for (const listener of listeners) listener();
    });
  }

  /** Time goes on while no one wakes: as under SIGSTOP, or on a machine that is suspended (`steadyMs` 0). */
  jump({ wallMs, steadyMs }: { wallMs: number; steadyMs: number }): void {
    this.wallMs += wallMs;
    this.steadyMs += steadyMs;
  }

  /** Lets time pass; says how many it wakes. */
  advance(ms: number): number {
    this.jump({ wallMs: ms, steadyMs: ms });
    const due = [...this.#sleepers].filter((sleeper) => sleeper.untilMs <= this.steadyMs);
    for (const sleeper of due) sleeper.wake();
    return due.length;
  }

  /** Lets time pass, and waits until the one who is woken by it sleeps again; at once when it wakes no one. */
  async pass(ms: number): Promise<void> {
    const asleepAgain = new Promise<void>((resolve) => this.#onSleep.push(resolve));
    if (this.advance(ms) > 0) await asleepAgain;
  }
}
