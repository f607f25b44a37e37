import { join } from 'node:path';
import { readRowId } from '../kinds/ids.js';
import { PLAN_FILE, type Plan, readPlan } from '../plan/format/plan-file.js';
import { readRowsOfOthers } from '../plan/reimport/rows-of-others.js';
import { Receipts } from '../report/receipt-index.js';
import type { Files } from '../storage/files.js';

export interface PlannedRowOf {
  readonly run: string;
  readonly step: number;
  /** Among the planned rows of the step. */
  readonly index: number;
}

/**
 * What delivery receipts say of rows of a job's runs: each is read once, when it is first asked for, and so are those that it has
 * rows from. The caller closes it.
 */
export class ReceivedRows {
  readonly #files: Files;
  readonly #jobDirectory: string;
  readonly #runs = new Map<string, RunReceipts>();

  constructor(files: Files, jobDirectory: string) {
    this.#files = files;
    this.#jobDirectory = jobDirectory;
  }

  /**
   * Whether a row was sent, whatever its run holds of it: by that run, or by one that it has the row from. `isRefused`: its run
   * holds it to be refused; that a receipt says the same is then no news.
   */
  async has({ run, step, index }: PlannedRowOf, { isRefused }: { isRefused: boolean }): Promise<boolean> {
    const { receipts, ids, isOfRefused } = await this.#open(run);
    if (receipts?.has(step, index)) {
      if (!isRefused || (await receipts.receiptOf(step, index))?.state !== 'rejected') return true;
    }
    const earlier = readRowId(ids.get(step)?.[index] ?? '');
    return earlier?.isPlanned === true && this.has(earlier, { isRefused: isOfRefused });
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
    const directory = join(this.#jobDirectory, run);
    const isThere = (await this.#files.stat(join(directory, PLAN_FILE))) !== undefined;
    const found = isThere ? await this.#readRun(directory, await readPlan(this.#files, directory)) : NOTHING;
    this.#runs.set(run, found);
    return found;
  }

  async #readRun(directory: string, plan: Plan): Promise<RunReceipts> {
    const ids = new Map<number, string[]>();
    for await (const { step, index, id } of readRowsOfOthers(this.#files, { directory, plan })) {
      const of = ids.get(step) ?? [];
      ids.set(step, of);
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
  /** Of planned rows that are those of other runs, by step and index: their ids there. */
  readonly ids: ReadonlyMap<number, readonly string[]>;
  readonly isOfRefused: boolean;
}

const NOTHING: RunReceipts = { receipts: undefined, ids: new Map(), isOfRefused: false };
