import { join } from 'node:path';
import { type RowId, readRowId } from '../kinds/ids.js';
import { PLAN_FILE, type Plan, readPlan } from '../plan/format/plan-file.js';
import type { RunDirectories } from '../plan/format/run-directories.js';
import { isRefusedRow } from '../plan/reimport/refused-rows.js';
import { readRowsOfOthers } from '../plan/reimport/rows-of-others.js';
import { Receipts } from '../report/receipt-index.js';
import type { Files } from '../storage/files.js';

/** A row that a plan has, planned or left out by its `where`. */
export type RowOf = Pick<RowId, 'run' | 'step' | 'isFiltered' | 'index'>;

/**
 * What delivery receipts say of rows of a job's runs: each is read once, when it is first asked for, and so are those that it has
 * rows from. The caller closes it.
 */
export class ReceivedRows {
  readonly #files: Files;
  readonly #directories: RunDirectories;
  readonly #runs = new Map<string, RunReceipts>();

  constructor(files: Files, directories: RunDirectories) {
    this.#files = files;
    this.#directories = directories;
  }

  /**
   * Whether a row was sent, whatever its run holds of it: by that run, or by one that it has the row from. `isRefused`: its run
   * holds it to be refused; that a receipt says the same is then no news.
   */
  async has({ run, step, isFiltered, index }: RowOf, { isRefused }: { isRefused: boolean }): Promise<boolean> {
    const { receipts, ids, isOfRefused } = await this.#open(run);
    if (!isFiltered && receipts?.has(step, index)) {
      if (!isRefused || (await receipts.receiptOf(step, index))?.state !== 'rejected') return true;
    }
    const earlier = readRowId(ids.get(keyOf(step, isFiltered))?.[index] ?? '');
    return earlier !== undefined && !isRefusedRow(earlier) && this.has(earlier, { isRefused: isOfRefused });
  }

  /** Whether there are receipts that could tell of rows of a run. */
  async mayHave(run: string): Promise<boolean> {
    const { receipts, ids } = await this.#open(run);
    return receipts !== undefined || ids.size > 0;
  }

  async close(): Promise<void> {
    for (const { receipts } of this.#runs.values()) await receipts?.close();
    this.#runs.clear();
  }

  async #open(run: string): Promise<RunReceipts> {
    const known = this.#runs.get(run);
    if (known !== undefined) return known;
    const directory = this.#directories.of(run);
    const isThere = (await this.#files.stat(join(directory, PLAN_FILE))) !== undefined;
    const found = isThere ? await this.#readRun(directory, await readPlan(this.#files, directory)) : NOTHING;
    this.#runs.set(run, found);
    return found;
  }

  async #readRun(directory: string, plan: Plan): Promise<RunReceipts> {
    const ids = new Map<string, string[]>();
    for await (const { step, isPlanned, index, id } of readRowsOfOthers(this.#files, { directory, plan })) {
      const key = keyOf(step, !isPlanned);
      const of = ids.get(key) ?? [];
      ids.set(key, of);
      of[index] = id;
    }
    return { receipts: await Receipts.read(this.#files, directory, plan), ids, isOfRefused: isOfRefused(plan) };
  }
}

/** Whether all rows that a plan has from other runs were refused there: only those are re-imported. */
export function isOfRefused({ retryOf }: Pick<Plan, 'retryOf'>): boolean {
  return retryOf === undefined || retryOf.only === 'rejected';
}

interface RunReceipts {
  readonly receipts: Receipts | undefined;
  /** Of rows that are those of other runs, by `keyOf` and index: their ids there. */
  readonly ids: ReadonlyMap<string, readonly string[]>;
  readonly isOfRefused: boolean;
}

function keyOf(step: number, isFiltered = false): string {
  return `${step}${isFiltered ? 'f' : ''}`;
}

const NOTHING: RunReceipts = { receipts: undefined, ids: new Map(), isOfRefused: false };
