import { remember } from '../domain/is-object.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { ReceivingRun } from './run-receipts.js';
import type { JoinEnd } from './settle-receipts.js';

/** At least so long from the end of one pass to the beginning of the next, and … */
const LEAST_PAUSE_MS = 10_000;
/** … so many times as long as the last one took: every pass reads all receipts of its runs. */
const PAUSE_TIMES_PASS = 10;

/** What a listener says at its end of a run that had receipts. */
export interface JoinedTotals {
  readonly directory: string;
  /** Rows that were in doubt and that receipts settled since the listener started, by result. */
  readonly settled: { accepted: number; rejected: number };
  /** Messages of the run by the state of their newest receipt; null where nothing was written. */
  deliveries: Readonly<Record<string, number>> | null;
  /** Receipts in its file that have another number or subaccount than the message. */
  foreign: number;
}

interface JoiningDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Joins all receipts of a run that are on disk. */
  readonly join: (run: ReceivingRun) => Promise<JoinEnd>;
  /** Is called behind each pass. */
  readonly onPause: () => Promise<void>;
}

interface JoinedRun {
  readonly run: ReceivingRun;
  readonly totals: JoinedTotals;
  isDue: boolean;
  isHeld: boolean;
  /** All its receipts are joined, and its runner puts no row in doubt any more. */
  isOver: boolean;
}

/**
 * Joins receipts to their runs while they come: after each pause those of the runs that had new ones, and at the end. A failing pass is
 * reported and repeated by the next; only `finish` throws.
 */
export class ReceiptJoining {
  readonly #runs = new Map<string, JoinedRun>();
  readonly #deps: JoiningDeps;
  readonly #stop = new AbortController();
  #passing: Promise<void> | undefined;

  constructor(deps: JoiningDeps) {
    this.#deps = deps;
  }

  begin(): void {
    this.#passing = this.#goOn();
  }

  /** The totals of each run. */
  get totals(): readonly JoinedTotals[] {
    return [...this.#runs.values()].map(({ totals }) => totals);
  }

  /** A run has receipts that are not joined. */
  note(run: ReceivingRun): void {
    const { directory } = run;
    const totals = { directory, settled: { accepted: 0, rejected: 0 }, deliveries: null, foreign: 0 };
    const each = remember(this.#runs, directory, () => ({ run, totals, isDue: true, isHeld: false, isOver: false }));
    each.isDue = true;
    each.isOver = false;
  }

  /** Waits for the running pass, then makes the last one, which covers everything before the call. */
  async finish(): Promise<void> {
    this.#stop.abort();
    await this.#passing;
    const failures: unknown[] = [];
    for (const each of this.#runs.values())
      if (!each.isOver) await this.#pass(each).catch((error) => failures.push(error));
    for (const { run, isHeld } of this.#runs.values())
      if (isHeld) this.#deps.log.warn(`receipts are not joined: listen again when the job of ${run.directory} is free`);
    if (failures.length > 0) throw failures[0];
  }

  async #goOn(): Promise<void> {
    const { clock } = this.#deps;
    while (!this.#stop.signal.aborted) {
      const startMs = clock.monotonicMs();
      for (const each of this.#runs.values()) {
        if (!each.isDue || this.#stop.signal.aborted) continue;
        await this.#pass(each).catch((error) => {
          const said = error instanceof Error ? error.message : String(error);
          this.#deps.log.error(`cannot join receipts now, will try again later: ${said}`);
        });
      }
      await this.#deps.onPause();
      const tookMs = clock.monotonicMs() - startMs;
      await clock.sleep(Math.max(LEAST_PAUSE_MS, PAUSE_TIMES_PASS * tookMs), this.#stop.signal);
    }
  }

  async #pass(each: JoinedRun): Promise<void> {
    each.isDue = false;
    try {
      this.#take(each, await this.#deps.join(each.run));
    } catch (error) {
      each.isDue = true;
      throw error;
    }
  }

  #take(each: JoinedRun, end: JoinEnd): void {
    const { run, totals } = each;
    const wasHeld = each.isHeld;
    each.isHeld = end.kind === 'held';
    each.isOver = end.kind === 'joined' && end.summary.state === 'finished' && !each.isDue;
    if (end.kind === 'nothing') return;
    if (end.kind === 'held') {
      each.isDue = true;
      if (!wasHeld) this.#deps.log.warn(`receipts are kept, and joined when the job is free: ${end.said}`);
      return;
    }
    const { accepted, rejected } = end.settled;
    totals.settled.accepted += accepted;
    totals.settled.rejected += rejected;
    totals.deliveries = end.summary.deliveries;
    totals.foreign = end.foreign;
    if (accepted + rejected === 0) return;
    const said = `rows in doubt that receipts settled: ${accepted} accepted, ${rejected} rejected`;
    this.#deps.log.info(said, { run: run.run, accepted, rejected });
  }
}

/** Says in one line for a person what was joined. */
export function describeJoined({ settled, deliveries, foreign }: JoinedTotals): string {
  const states = Object.entries(deliveries ?? {}).map(([state, count]) => `${count} ${state}`);
  const { accepted, rejected } = settled;
  const others = foreign === 0 ? '' : `; ${foreign} receipts of others`;
  return (
    `messages with a receipt: ${states.length === 0 ? 'none' : states.join(', ')}; ` +
    `settled: ${accepted} accepted, ${rejected} rejected${others}`
  );
}
