import { join } from 'node:path';
import { messageOf } from '../domain/errors.js';
import { remember } from '../domain/is-object.js';
import { planOfMessage } from '../kinds/ids.js';
import { type EventFile, openEventFile } from '../listen/event-file.js';
import type { DivertedEvent } from '../listen/listener.js';
import { PLAN_FILE, RECEIPTS_FILE } from '../plan/format/plan-file.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { Files } from '../storage/files.js';
import type { JoinEnd } from './settle-receipts.js';

/** A run that is there, with its rows. */
export interface ReceivingRun {
  /** Its plan id. */
  readonly run: string;
  readonly directory: string;
}

/** The file of a run is closed once nothing has come for it for so long. */
const IDLE_MS = 600_000;
/** A run that was not found is looked for again after so long: a network disk may show its directory late. */
const MISSED_MS = 60_000;
const MOST_MISSED = 10_000;

interface OpenRun {
  readonly run: ReceivingRun;
  readonly file: EventFile;
  lastMs: number;
  writing: number;
}

/** Writes receipts durably, each to the file of the run whose message it is of. */
export function createRunReceipts(
  { files, clock, log }: { files: Files; clock: Clock; log: Log },
  on: { findRun: (plan: string) => Promise<ReceivingRun | undefined>; onWritten: (run: ReceivingRun) => void },
) {
  /** By plan id. */
  const byPlan = new Map<string, Promise<OpenRun | undefined>>();
  /** When a run was not found, by plan id. */
  const missed = new Map<string, number>();

  /** What it gives counts as being written to. */
  async function find(plan: string, assertHeld: () => Promise<void>): Promise<OpenRun | undefined> {
    for (;;) {
      const missedMs = missed.get(plan) ?? Number.NEGATIVE_INFINITY;
      if (clock.monotonicMs() - missedMs < MISSED_MS) return undefined;
      const opening = byPlan.get(plan) ?? openRun(plan, assertHeld);
      byPlan.set(plan, opening);
      const open = await opening;
      // It may have been closed meanwhile.
      if (byPlan.get(plan) !== opening) continue;
      if (open === undefined) miss(plan);
      else open.writing += 1;
      return open;
    }
  }

  async function openRun(plan: string, assertHeld: () => Promise<void>): Promise<OpenRun | undefined> {
    const run = await on.findRun(plan);
    if (run === undefined) return undefined;
    const assertThere = async () => {
      await assertHeld();
      // A pruned run gets no numbers back.
      const planned = await files.stat(join(run.directory, PLAN_FILE));
      if (planned === undefined) throw new Error(`${run.directory} has no rows any more`);
    };
    const deps = { files, log, assertHeld: assertThere };
    const file = await openEventFile(join(run.directory, RECEIPTS_FILE), deps, () => {});
    return { run, file, lastMs: clock.monotonicMs(), writing: 0 };
  }

  function miss(plan: string): void {
    byPlan.delete(plan);
    if (missed.size >= MOST_MISSED) missed.clear();
    missed.set(plan, clock.monotonicMs());
  }

  return {
    /**
     * Writes a receipt to its run. Undefined for what is no receipt of a run that is there, and for one that cannot be written: whatever is
     * wrong with the file of one run, the others get theirs. `assertHeld`: asked before each write.
     */
    async add(
      { id, line, messageId }: DivertedEvent,
      assertHeld: () => Promise<void>,
    ): Promise<'written' | 'duplicate' | undefined> {
      const plan = planOfMessage(messageId);
      if (plan === undefined) return undefined;
      let open: OpenRun | undefined;
      try {
        open = await find(plan, assertHeld);
        const outcome = await open?.file.add(id, line);
        if (open !== undefined && outcome === 'written') on.onWritten(open.run);
        return outcome;
      } catch (error) {
        log.warn(`receipts of run ${plan} go to the other events: ${messageOf(error)}`, { run: plan });
        miss(plan);
        await open?.file.close().catch(() => {});
        return undefined;
      } finally {
        if (open !== undefined) {
          open.lastMs = clock.monotonicMs();
          open.writing -= 1;
        }
      }
    },
    async closeIdle(): Promise<void> {
      for (const [plan, opening] of byPlan) {
        const open = await opening.catch(() => undefined);
        const isIdle = open?.writing === 0 && clock.monotonicMs() - open.lastMs >= IDLE_MS;
        if (!isIdle || byPlan.get(plan) !== opening) continue;
        byPlan.delete(plan);
        await open.file.close();
      }
    },
    async close(): Promise<void> {
      for (const opening of byPlan.values()) await (await opening.catch(() => undefined))?.file.close();
    },
  };
}

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
export function createReceiptJoining({ clock, log, join, onPause }: JoiningDeps) {
  const runs = new Map<string, JoinedRun>();
  const stop = new AbortController();
  let passing: Promise<void> | undefined;

  const take = (each: JoinedRun, end: JoinEnd) => {
    const { run, totals } = each;
    const wasHeld = each.isHeld;
    each.isHeld = end.kind === 'held';
    each.isOver = end.kind === 'joined' && end.summary.state === 'finished' && !each.isDue;
    if (end.kind === 'nothing') return;
    if (end.kind === 'held') {
      each.isDue = true;
      if (!wasHeld) log.warn(`receipts are kept, and joined when the job is free: ${end.said}`);
      return;
    }
    const { accepted, rejected } = end.settled;
    totals.settled.accepted += accepted;
    totals.settled.rejected += rejected;
    totals.deliveries = end.summary.deliveries;
    totals.foreign = end.foreign;
    if (accepted + rejected === 0) return;
    const said = `rows in doubt that receipts settled: ${accepted} accepted, ${rejected} rejected`;
    log.info(said, { run: run.run, accepted, rejected });
  };
  const pass = async (each: JoinedRun) => {
    each.isDue = false;
    try {
      take(each, await join(each.run));
    } catch (error) {
      each.isDue = true;
      throw error;
    }
  };
  const goOn = async () => {
    while (!stop.signal.aborted) {
      const startMs = clock.monotonicMs();
      for (const each of runs.values()) {
        if (!each.isDue || stop.signal.aborted) continue;
        await pass(each).catch((error) => {
          log.error(`cannot join receipts now, will try again later: ${messageOf(error)}`);
        });
      }
      await onPause();
      const tookMs = clock.monotonicMs() - startMs;
      await clock.sleep(Math.max(LEAST_PAUSE_MS, PAUSE_TIMES_PASS * tookMs), stop.signal);
    }
  };
  return {
    begin(): void {
      passing = goOn();
    },
    get totals(): readonly JoinedTotals[] {
      return [...runs.values()].map(({ totals }) => totals);
    },
    /** A run has receipts that are not joined. */
    note(run: ReceivingRun): void {
      const { directory } = run;
      const totals = { directory, settled: { accepted: 0, rejected: 0 }, deliveries: null, foreign: 0 };
      const each = remember(runs, directory, () => ({ run, totals, isDue: true, isHeld: false, isOver: false }));
      each.isDue = true;
      each.isOver = false;
    },
    /** Waits for the running pass, then makes the last one, which covers everything before the call. */
    async finish(): Promise<void> {
      stop.abort();
      await passing;
      const failures: unknown[] = [];
      for (const each of runs.values()) if (!each.isOver) await pass(each).catch((error) => failures.push(error));
      for (const { run, isHeld } of runs.values())
        if (isHeld) log.warn(`receipts are not joined: listen again when the job of ${run.directory} is free`);
      if (failures.length > 0) throw failures[0];
    },
  };
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
