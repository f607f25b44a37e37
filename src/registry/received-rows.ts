import { join } from 'node:path';
import { remember } from '../domain/is-object.js';
import type { RowStatusView } from '../journal/row-status/row-status-view.js';
import { type RowId, readRowId } from '../kinds/ids.js';
import { PLAN_FILE, type Plan, readPlan } from '../plan/format/plan-file.js';
import type { RunDirectories } from '../plan/format/run-directories.js';
import { isRefusedRow } from '../plan/reimport/refused-rows.js';
import { readRowsOfOthers } from '../plan/reimport/rows-of-others.js';
import { readRunRows } from '../report/read-run-rows.js';
import { decideByStates } from '../report/receipt.js';
import { Receipts } from '../report/receipt-index.js';
import type { Files } from '../storage/files.js';

/** A row that a plan has, planned or left out by its `where`. */
type RowOf = Pick<RowId, 'run' | 'step' | 'isLeftOut' | 'index'>;

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
   * Whether a row was sent, or may yet be, whatever its run holds of it: by that run, or by one that it has the row from. One that is
   * queued may, unless the service said that it took the message back. One that is refused, and nothing else, was not.
   */
  async has({ run, step, isLeftOut, index }: RowOf): Promise<boolean> {
    const { receipts, ids, readRows } = await this.#open(run);
    const states = isLeftOut ? [] : (receipts?.statesOf(step, index) ?? []);
    if (states.length > 0) {
      const decision = decideByStates(states);
      if (decision === 'sent' || decision === 'contradiction') return true;
      if (decision === undefined && (await readRows()).codeOf(step, index) !== 'cancelled') return true;
    }
    const earlier = readRowId(ids.get(keyOf(step, isLeftOut))?.[index] ?? '');
    return earlier !== undefined && !isRefusedRow(earlier) && this.has(earlier);
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
      remember(ids, keyOf(step, !isPlanned), (): string[] => [])[index] = id;
    }
    let rows: Promise<RowStatusView> | undefined;
    const readRows = () => {
      rows ??= readRunRows(this.#files, { directory, plan }).then((read) => read.rows);
      return rows;
    };
    return { receipts: await Receipts.read(this.#files, directory, plan), ids, readRows };
  }
}

interface RunReceipts {
  readonly receipts: Receipts | undefined;
  /** Of rows that are those of other runs, by `keyOf` and index: their ids there. */
  readonly ids: ReadonlyMap<string, readonly string[]>;
  /** What the run holds of them; read when it is first asked for. */
  readonly readRows: () => Promise<RowStatusView>;
}

function keyOf(step: number, isLeftOut = false): string {
  return `${step}${isLeftOut ? 'f' : ''}`;
}

const NOTHING: RunReceipts = {
  receipts: undefined,
  ids: new Map(),
  readRows: () => Promise.reject(new Error('the run is gone')),
};
