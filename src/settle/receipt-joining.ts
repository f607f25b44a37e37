import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { JoinEnd } from './settle-receipts.js';

/** At least so long from the end of one pass to the beginning of the next, and … */
const LEAST_PAUSE_MS = 10_000;
/** … so many times as long as the last one took: every pass reads all receipts. */
const PAUSE_TIMES_PASS = 10;

/** What a listener that joins receipts to a run says at its end. */
interface JoinedTotals {
  /** Rows that were in doubt and that receipts settled since the listener started, by result. */
  settled: { accepted: number; rejected: number };
  /** Messages of the run by the state of their newest receipt; null where nothing was written. */
  deliveries: Readonly<Record<string, number>> | null;
  /** Receipts in the file that are not of the run's messages. */
  foreign: number;
}

/**
 * Joins receipts to their run while they come: at the start, after each pause in which there were new ones, and at the
 * end. A failing pass is reported and repeated by the next; only `finish` throws.
 */
export class ReceiptJoining {
  readonly totals: JoinedTotals = { settled: { accepted: 0, rejected: 0 }, deliveries: null, foreign: 0 };
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #join: () => Promise<JoinEnd>;
  readonly #stop = new AbortController();
  readonly #passing: Promise<void>;
  #isDue = true;
  #isHeld = false;

  /** `join`: of all receipts that are on disk. */
  constructor({ clock, log, join }: { clock: Clock; log: Log; join: () => Promise<JoinEnd> }) {
    this.#clock = clock;
    this.#log = log;
    this.#join = join;
    this.#passing = this.#goOn();
  }

  noteReceipt(): void {
    this.#isDue = true;
  }

  /** Waits for the running pass, then makes the last one, which covers everything before the call. */
  async finish(): Promise<void> {
    this.#stop.abort();
    await this.#passing;
    // Also without new receipts: a runner may have put rows in doubt since.
    await this.#pass();
    if (this.#isDue) this.#log.warn('receipts are not joined: listen for this run again when its job is free');
  }

  async #goOn(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const startMs = this.#clock.monotonicMs();
      if (this.#isDue) {
        await this.#pass().catch((error) => {
          const said = error instanceof Error ? error.message : String(error);
          this.#log.error(`cannot join receipts now, will try again later: ${said}`);
        });
      }
      const tookMs = this.#clock.monotonicMs() - startMs;
      await this.#clock.sleep(Math.max(LEAST_PAUSE_MS, PAUSE_TIMES_PASS * tookMs), this.#stop.signal);
    }
  }

  async #pass(): Promise<void> {
    this.#isDue = false;
    try {
      this.#take(await this.#join());
    } catch (error) {
      this.#isDue = true;
      throw error;
    }
  }

  #take(end: JoinEnd): void {
    if (end.kind === 'nothing') return;
    if (end.kind === 'held') {
      this.#isDue = true;
      if (!this.#isHeld) this.#log.warn(`receipts are kept, and joined when the job is free: ${end.said}`);
      this.#isHeld = true;
      return;
    }
    this.#isHeld = false;
    const { accepted, rejected } = end.settled;
    this.totals.settled.accepted += accepted;
    this.totals.settled.rejected += rejected;
    this.totals.deliveries = end.summary.deliveries;
    this.totals.foreign = end.receipts.foreign;
    if (accepted + rejected === 0) return;
    const said = `rows in doubt that receipts settled: ${accepted} accepted, ${rejected} rejected`;
    this.#log.info(said, { accepted, rejected });
  }
}

/** One line for a person. */
export function describeJoined({ settled, deliveries, foreign }: JoinedTotals): string {
  const states = Object.entries(deliveries ?? {}).map(([state, count]) => `${count} ${state}`);
  const { accepted, rejected } = settled;
  return (
    `messages with a receipt: ${states.length === 0 ? 'none' : states.join(', ')}; ` +
    `settled: ${accepted} accepted, ${rejected} rejected; ${foreign} receipts of others`
  );
}
