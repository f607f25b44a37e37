/** Time as a port: nothing outside this file and `command/` reads a clock or sets a timer of its own. */
export interface Clock {
  /** Wall clock, milliseconds since 1970-01-01 UTC. For records that people read; it may jump. */
  now(): number;
  /** Milliseconds from an arbitrary start; never goes back. For waiting and for measuring. */
  monotonicMs(): number;
  /** Resolves after at least `delayMs`; at once when `signal` aborts, without throwing. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (delayMs, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const finish = () => {
        stopTimer();
        signal?.removeEventListener('abort', finish);
        resolve();
      };
      const stopTimer = startTimer(delayMs, finish);
      signal?.addEventListener('abort', finish, { once: true });
    }),
};

/** Node's setTimeout: a longer delay fires after 1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Runs `action` once, after at least `delayMs`, unless the function that it returns is called before. */
export function startTimer(delayMs: number, action: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (leftMs: number) => {
    timer =
      leftMs > MAX_TIMER_MS ? setTimeout(() => wait(leftMs - MAX_TIMER_MS), MAX_TIMER_MS) : setTimeout(action, leftMs);
  };
  wait(delayMs);
  return () => clearTimeout(timer);
}

/** A moment on both clocks: the monotonic one stands still while a machine sleeps, the wall clock may be set back. */
export interface Moment {
  readonly monotonicMs: number;
  readonly atMs: number;
}

/** A moment so long ago that any span is over. */
export const NEVER: Moment = { monotonicMs: Number.NEGATIVE_INFINITY, atMs: Number.NEGATIVE_INFINITY };

export function readMoment(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), atMs: clock.now() };
}

/** The time since a moment, by the clock on which more has passed. */
export function ageMs(clock: Clock, { monotonicMs, atMs }: Moment): number {
  return Math.max(clock.monotonicMs() - monotonicMs, clock.now() - atMs);
}
