import { join } from 'node:path';
import { planOfMessage } from '../kinds/ids.js';
import { type EventFile, openEventFile } from '../listen/event-file.js';
import type { DivertedEvent } from '../listen/listener.js';
import { PLAN_FILE, RECEIPTS_FILE } from '../plan/format/plan-file.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { Files } from '../storage/files.js';

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
  /** Receipts that are being written. */
  writing: number;
}

/** Writes receipts durably, each to the file of the run whose message it is of. */
export class RunReceipts {
  readonly #deps: { readonly files: Files; readonly clock: Clock; readonly log: Log };
  readonly #findRun: (plan: string) => Promise<ReceivingRun | undefined>;
  readonly #onWritten: (run: ReceivingRun) => void;
  /** By plan id. */
  readonly #open = new Map<string, Promise<OpenRun | undefined>>();
  /** When a run was not found, by plan id. */
  readonly #missed = new Map<string, number>();

  constructor(
    deps: { files: Files; clock: Clock; log: Log },
    {
      findRun,
      onWritten,
    }: { findRun: (plan: string) => Promise<ReceivingRun | undefined>; onWritten: (run: ReceivingRun) => void },
  ) {
    this.#deps = deps;
    this.#findRun = findRun;
    this.#onWritten = onWritten;
  }

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
      open = await this.#find(plan, assertHeld);
      const outcome = await open?.file.add(id, line);
      if (open !== undefined && outcome === 'written') this.#onWritten(open.run);
      return outcome;
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      this.#deps.log.warn(`receipts of run ${plan} go to the other events: ${said}`, { run: plan });
      this.#miss(plan);
      await open?.file.close().catch(() => {});
      return undefined;
    } finally {
      if (open !== undefined) {
        open.lastMs = this.#deps.clock.monotonicMs();
        open.writing -= 1;
      }
    }
  }

  async closeIdle(): Promise<void> {
    for (const [plan, opening] of this.#open) {
      const open = await opening.catch(() => undefined);
      const isIdle = open?.writing === 0 && this.#deps.clock.monotonicMs() - open.lastMs >= IDLE_MS;
      if (!isIdle || this.#open.get(plan) !== opening) continue;
      this.#open.delete(plan);
      await open.file.close();
    }
  }

  async close(): Promise<void> {
    for (const opening of this.#open.values()) await (await opening.catch(() => undefined))?.file.close();
  }

  /** What it gives counts as being written to. */
  async #find(plan: string, assertHeld: () => Promise<void>): Promise<OpenRun | undefined> {
    for (;;) {
      const missedMs = this.#missed.get(plan) ?? Number.NEGATIVE_INFINITY;
      if (this.#deps.clock.monotonicMs() - missedMs < MISSED_MS) return undefined;
      const opening = this.#open.get(plan) ?? this.#openRun(plan, assertHeld);
      this.#open.set(plan, opening);
      const open = await opening;
      // It may have been closed meanwhile.
      if (this.#open.get(plan) !== opening) continue;
      if (open === undefined) this.#miss(plan);
      else open.writing += 1;
      return open;
    }
  }

  async #openRun(plan: string, assertHeld: () => Promise<void>): Promise<OpenRun | undefined> {
    const { files, clock, log } = this.#deps;
    const run = await this.#findRun(plan);
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

  #miss(plan: string): void {
    this.#open.delete(plan);
    if (this.#missed.size >= MOST_MISSED) this.#missed.clear();
    this.#missed.set(plan, this.#deps.clock.monotonicMs());
  }
}
