import type { Clock } from '../ports/clock.js';
import { type Store, StoreLost } from './store.js';

export interface PatientOptions {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly giveUpAfterMs: number;
  /** Ends the waiting of calls that have no signal of their own. */
  readonly signal: AbortSignal;
  /** With each call that is lost; `isNew`: it was not before, or for another reason. And when it answers again. */
  readonly onLost: (why: string, isNew: boolean) => void;
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
  let lostSinceMs: number | undefined;
  let said: string | undefined;
  /** Throws where the waiting is over. */
  const wait = async (lost: StoreLost, pauseMs: number, until: AbortSignal) => {
    if (until.aborted) throw lost;
    onLost(lost.message, said !== lost.message);
    said = lost.message;
    lostSinceMs ??= clock.monotonicMs();
    if (clock.monotonicMs() - lostSinceMs > giveUpAfterMs) throw lost;
    await clock.sleep(pauseMs * (0.5 + random() / 2), until);
  };
  return async <T>(call: () => Promise<T>, until = signal): Promise<T> => {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
      try {
        const result = await call();
        if (lostSinceMs !== undefined) onBack();
        lostSinceMs = undefined;
        said = undefined;
        return result;
      } catch (error) {
        if (!(error instanceof StoreLost)) throw error;
        await wait(error, pauseMs, until);
      }
    }
  };
}

export function bePatient(store: Store, repeat: Repeat): Store {
  const repeated =
    <Args extends unknown[], T>(method: (...args: Args) => Promise<T>) =>
    (...args: Args): Promise<T> =>
      repeat(() => method(...args));
  return {
    readServer: repeated(store.readServer),
    standBy: store.standBy,
    close: store.close,
    lead: repeated(store.lead),
    openStep: repeated(store.openStep),
    handOver: repeated(store.handOver),
    readNews: repeated(store.readNews),
    noteTaken: repeated(store.noteTaken),
    closeStep: repeated(store.closeStep),
    withdraw: repeated(store.withdraw),
    confirmLife: repeated(store.confirmLife),
    keepLead: repeated(store.keepLead),
    drop: repeated(store.drop),
    beat: repeated(store.beat),
    findRun: repeated(store.findRun),
    hasRuns: repeated(store.hasRuns),
    claim: repeated(store.claim),
    append: repeated(store.append),
    leave: repeated(store.leave),
    recover: repeated(store.recover),
    checkIn: repeated(store.checkIn),
    askToStop: repeated(store.askToStop),
    book: repeated(store.book),
  };
}
