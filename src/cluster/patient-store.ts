import type { Clock } from '../ports/clock.js';
import { type Store, StoreLost } from './store.js';

export interface PatientOptions {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly giveUpAfterMs: number;
  /** Ends the waiting of calls that have no signal of their own. */
  readonly signal: AbortSignal;
  /** Called for each call that is lost. `isNew`: the one before was not, or for another reason; `awayMs`: since the first one began. */
  readonly onLost: (why: string, isNew: boolean, awayMs: number) => void;
  readonly onBack: () => void;
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

/** Repeats a call of the store until it is answered, or `signal` aborts: every one may be repeated (store.ts). */
export type Repeat = <T>(call: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/**
 * Throws the last `StoreLost` after `giveUpAfterMs`, or when `signal` aborts. Nothing is sent while a call waits, since both intent and
 * turn come from the store.
 */
export function createPatience({ clock, random, giveUpAfterMs, signal, onLost, onBack }: PatientOptions): Repeat {
  /** The first call of those that are lost in a row: a process may have been stopped between the two, and has tried only since the second. */
  let lost: { readonly beganMs: number; readonly failedMs: number } | undefined;
  let said: string | undefined;
  /** Throws where the waiting is over. */
  const wait = async (
    error: StoreLost,
    { startMs, pauseMs }: { startMs: number; pauseMs: number },
    until: AbortSignal,
  ) => {
    if (until.aborted) throw error;
    const nowMs = clock.monotonicMs();
    lost ??= { beganMs: startMs, failedMs: nowMs };
    onLost(error.message, said !== error.message, nowMs - lost.beganMs);
    said = error.message;
    if (nowMs - lost.failedMs > giveUpAfterMs) throw error;
    await clock.sleep(pauseMs * (0.5 + random() / 2), until);
  };
  return async <T>(call: () => Promise<T>, until = signal): Promise<T> => {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
      const startMs = clock.monotonicMs();
      try {
        const result = await call();
        if (lost !== undefined) onBack();
        lost = undefined;
        said = undefined;
        return result;
      } catch (error) {
        if (!(error instanceof StoreLost)) throw error;
        await wait(error, { startMs, pauseMs }, until);
      }
    }
  };
}

/** Wraps a store so that every call of it is repeated. */
export function bePatient(store: Store, repeat: Repeat): Store {
  const { close, ...calls } = store;
  const repeated = Object.entries(calls).map(([name, call]) => [
    name,
    (...args: never[]) => repeat(() => (call as (...args: never[]) => Promise<unknown>)(...args)),
  ]);
  return { ...(Object.fromEntries(repeated) as typeof calls), close };
}
