import { join } from 'node:path';
import { InternalError } from '../domain/errors.js';
import { messageIdPrefix, readMessageIndex } from '../kinds/ids.js';
import { type Plan, type PlannedStep, RECEIPTS_FILE } from '../plan/format/plan-file.js';
import { readPlannedRows } from '../plan/format/planned-files.js';
import type { Files, ReadFile } from '../storage/files.js';
import { ReadWindow, splitLines } from '../storage/split-lines.js';
import { RECEIPT_STATES, type Receipt, type ReceiptState, readReceipt } from './receipt.js';

/**
 * Where in the file of receipts the newest one of each message of a run stands, and which states it was in: 25 bytes a planned row. The
 * newest is that of the highest time of its status; where two are equal, the state that is reached later; `queued` is older than any
 * other. The file may grow meanwhile.
 */
export class Receipts {
  readonly #file: ReadFile;
  readonly #subAccountId: string;
  readonly #steps: ReadonlyMap<number, StepReceipts>;
  readonly #window: ReadWindow;
  #foreign = 0;

  /** Reads the receipts of a run; undefined where it has no file of them. The caller closes it. */
  static async read(files: Files, directory: string, plan: Plan): Promise<Receipts | undefined> {
    const path = join(directory, RECEIPTS_FILE);
    if ((await files.stat(path)) === undefined) return undefined;
    const steps = new Map<number, StepReceipts>();
    for (const planned of plan.steps.filter(({ kind }) => kind === 'sms')) {
      const { planned: rows } = planned.counts;
      const numbers = await readNumbers(files, directory, planned);
      const order = new Float64Array(rows).fill(-1);
      const found = { order, places: new Float64Array(rows), states: new Uint8Array(rows) };
      steps.set(planned.number, { prefix: messageIdPrefix(plan.id, planned.number), numbers, ...found });
    }
    const receipts = new Receipts(await files.openRead(path), plan.job.service.subAccountId, steps);
    try {
      await receipts.#index();
    } catch (error) {
      await receipts.close();
      throw error;
    }
    return receipts;
  }

  private constructor(file: ReadFile, subAccountId: string, steps: ReadonlyMap<number, StepReceipts>) {
    this.#file = file;
    this.#window = new ReadWindow(file, WINDOW_BYTES);
    this.#subAccountId = subAccountId;
    this.#steps = steps;
  }

  /** How many are of another run, or have a number or subaccount that is not the message's. */
  get foreign(): number {
    return this.#foreign;
  }

  has(step: number, row: number): boolean {
    return (this.#steps.get(step)?.order[row] ?? -1) >= 0;
  }

  /** Every state that the receipts of a planned row say. */
  statesOf(step: number, row: number): ReceiptState[] {
    const states = this.#steps.get(step)?.states[row] ?? 0;
    return STATES.filter((_, bit) => (states & (1 << bit)) !== 0);
  }

  /** The newest receipt of a planned row, if any. */
  async receiptOf(step: number, row: number): Promise<Receipt | undefined> {
    const index = this.#steps.get(step);
    if (index === undefined || !this.has(step, row)) return undefined;
    const place = index.places[row] ?? 0;
    const length = place % LONGEST_LINE;
    const offset = (place - length) / LONGEST_LINE;
    const receipt = readReceipt((await this.#window.read(offset, length)).toString('utf8'));
    if (receipt !== undefined) return receipt;
    throw new InternalError('unexpected', `Cannot read ${RECEIPTS_FILE} again: no receipt at byte ${offset}`);
  }

  /** Reads the newest receipts of several rows, by the row, in the order of the file. */
  async receiptsOf(step: number, rows: readonly number[]): Promise<ReadonlyMap<number, Receipt>> {
    const places = this.#steps.get(step)?.places ?? new Float64Array();
    const found = new Map<number, Receipt>();
    for (const row of rows.toSorted((one, other) => (places[one] ?? 0) - (places[other] ?? 0))) {
      const receipt = await this.receiptOf(step, row);
      if (receipt !== undefined) found.set(row, receipt);
    }
    return found;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #index(): Promise<void> {
    for await (const { bytes, offset, isWhole } of splitLines(this.#file)) {
      // A longer line is no receipt; one without its end was never acknowledged, and comes again.
      if (!isWhole || bytes.length >= LONGEST_LINE) continue;
      const receipt = readReceipt(bytes.toString('utf8'));
      if (receipt !== undefined) this.#add(receipt, offset * LONGEST_LINE + bytes.length);
    }
  }

  #add(receipt: Receipt, place: number): void {
    const { clientMessageId, subAccountId, destination, state, atMs } = receipt;
    for (const index of this.#steps.values()) {
      const row = readMessageIndex(clientMessageId, index.prefix);
      if (row === undefined) continue;
      if (subAccountId !== this.#subAccountId || index.numbers[row] !== Number(destination)) break;
      index.states[row] = (index.states[row] ?? 0) | (1 << STATES.indexOf(state));
      const order =
        state === 'queued' ? 0 : Math.min(Math.max(atMs, 0), LATEST_MS) * RANKS + RECEIPT_STATES[state].rank;
      if (order < (index.order[row] ?? 0)) return;
      index.order[row] = order;
      index.places[row] = place;
      return;
    }
    this.#foreign += 1;
  }
}

interface StepReceipts {
  /** What the ids of its messages begin with. */
  readonly prefix: string;
  /** The digits of the number of each planned row; E.164 is exact in a double. */
  readonly numbers: Float64Array;
  /** Time and rank of the newest receipt in one figure; -1 where there is none. */
  readonly order: Float64Array;
  /** Offset and length of its line in one figure. */
  readonly places: Float64Array;
  /** A bit for each of `STATES`. */
  readonly states: Uint8Array;
}

const STATES = Object.keys(RECEIPT_STATES) as ReceiptState[];

const RANKS = 4;
/** Year 10889; keeps time and rank within 53 bits. */
const LATEST_MS = 2 ** 48;
/** 16 bits of a place; a receipt has about 1 KB. */
const LONGEST_LINE = 1 << 16;
const WINDOW_BYTES = 1 << 16;

async function readNumbers(files: Files, directory: string, planned: PlannedStep): Promise<Float64Array> {
  const numbers = new Float64Array(planned.counts.planned);
  for await (const { index, row } of readPlannedRows(files, directory, planned)) {
    numbers[index] = Number(row.facts[0]?.replace(/\D/g, '') ?? '');
  }
  return numbers;
}
