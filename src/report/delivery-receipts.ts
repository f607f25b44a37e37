import { join } from 'node:path';
import { InternalError } from '../domain/errors.js';
import { isObject, parseJson } from '../domain/is-object.js';
import { parseServiceTime } from '../domain/stated-time.js';
import { messageIdPrefix, readMessageIndex } from '../kinds/ids.js';
import { type Plan, type PlannedStep, RECEIPTS_FILE } from '../plan/format/plan-file.js';
import { readPlannedRows } from '../plan/format/planned-files.js';
import { parseDecimal } from '../prices/decimal.js';
import type { Files } from '../storage/files.js';
import { ReadWindow, splitLines } from '../storage/split-lines.js';

/** The parts of a delivery receipt that Volley reads. */
export interface Receipt {
  readonly umid: string;
  readonly clientMessageId: string;
  readonly subAccountId: string;
  /** The number, in digits only. */
  readonly destination: string;
  readonly state: ReceiptState;
  readonly detail: string;
  readonly errorCode: string;
  readonly errorMessage: string;
  /** As the service wrote it, else when it arrived. */
  readonly time: string;
  /** `time` in ms since 1970. */
  readonly atMs: number;
  /** Parts of the message; undefined where the service says none. */
  readonly parts: number | undefined;
  /** The price of all parts; undefined for a message that is not charged, or not yet. */
  readonly price: { readonly total: bigint; readonly currency: string } | undefined;
}

/**
 * The states of a message. `rank`: which of two of the same moment came later. `isSent`: it was handed over to an operator, whose word
 * `undelivered` is. `end`: how it ended; undefined where it has not.
 */
const RECEIPT_STATES = {
  queued: { rank: 0, isSent: false, end: undefined },
  sent: { rank: 1, isSent: true, end: undefined },
  rejected: { rank: 2, isSent: false, end: 'failed' },
  undelivered: { rank: 2, isSent: true, end: 'failed' },
  delivered: { rank: 2, isSent: true, end: 'delivered' },
  read: { rank: 3, isSent: true, end: 'delivered' },
} as const;
export type ReceiptState = keyof typeof RECEIPT_STATES;

/** Messages that have their end, by a count of messages by state: one whose newest state is not final is in neither. */
export function sumDeliveries(counts: Readonly<Record<string, number>>): { delivered: number; failed: number } {
  const sums = { delivered: 0, failed: 0 };
  for (const [state, count] of Object.entries(counts)) {
    const end = isState(state) ? RECEIPT_STATES[state].end : undefined;
    if (end !== undefined) sums[end] += count;
  }
  return sums;
}

/**
 * What the states of one message show, as receipts or the message export have them: that it was sent, that the service refused it, or
 * both. Undefined: nothing. One that is queued may be sent later, refused, or taken back. Pure.
 */
export function decideByStates(states: readonly string[]): 'sent' | 'rejected' | 'contradiction' | undefined {
  const isSent = states.some((state) => isState(state) && RECEIPT_STATES[state].isSent);
  if (states.includes('rejected')) return isSent ? 'contradiction' : 'rejected';
  return isSent ? 'sent' : undefined;
}

const LONGEST_UMID = 128;

/**
 * The receipt in a line of the event file, without its line break; undefined if the line has none, or one without
 * message, number, subaccount and a documented state.
 */
function readReceipt(line: string): Receipt | undefined {
  const { kind, receivedAt, event } = asObject(parseJson(line));
  if (kind !== 'receipt') return undefined;
  const { payload } = asObject(event);
  const { umid, clientMessageId, subAccountId, destination, status, price, smsCount } = asObject(payload);
  const { state: written, detail, errorCode, errorMessage, timestamp } = asObject(status);
  const state = asText(written).toLowerCase();
  if (!isState(state) || typeof clientMessageId !== 'string' || typeof subAccountId !== 'string') return undefined;
  if (typeof umid !== 'string' || umid === '' || umid.length > LONGEST_UMID) return undefined;
  const digits = asText(destination).replace(/\D/g, '');
  if (digits === '') return undefined;
  const isTimed = Number.isFinite(parseServiceTime(asText(timestamp)));
  const time = asText(isTimed ? timestamp : receivedAt);
  return {
    umid,
    clientMessageId,
    subAccountId,
    destination: digits,
    state,
    detail: asText(detail),
    errorCode: asText(errorCode),
    errorMessage: asText(errorMessage),
    time,
    atMs: parseServiceTime(time) || 0,
    parts: Number.isSafeInteger(smsCount) && Number(smsCount) > 0 ? Number(smsCount) : undefined,
    price: readPrice(asObject(price)),
  };
}

/** ISO 4217. */
const CURRENCY = /^[A-Z]{3}$/;
/** Up to here a double holds 9 decimals. */
const MOST_AS_DOUBLE = 1e6;

function readPrice({ total, currency }: Readonly<Record<string, unknown>>): Receipt['price'] {
  if (typeof currency !== 'string' || !CURRENCY.test(currency)) return undefined;
  // What is left of 3 × 0.01 in binary, 0.030000000000000002, is no digit of a price.
  const isDouble = typeof total === 'number' && total >= 0 && total < MOST_AS_DOUBLE;
  const read = parseDecimal(isDouble ? total.toFixed(9) : asText(total));
  return read.ok ? { total: read.nanos, currency } : undefined;
}

function isState(state: string): state is ReceiptState {
  return Object.hasOwn(RECEIPT_STATES, state);
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function asText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/**
 * Where in the file of receipts the newest one of each message of a run stands, and which states it was in: 25 bytes a planned row. The
 * newest is that of the highest time of its status; where two are equal, the state that is reached later; `queued` is older than any
 * other. The file may grow meanwhile. Undefined for a run that has no file of them. The caller closes it.
 */
export async function openReceipts(files: Files, directory: string, plan: Plan) {
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
  const file = await files.openRead(path);
  const window = new ReadWindow(file, WINDOW_BYTES);
  let foreign = 0;

  const add = (receipt: Receipt, place: number) => {
    const { clientMessageId, subAccountId, destination, state, atMs } = receipt;
    for (const index of steps.values()) {
      const row = readMessageIndex(clientMessageId, index.prefix);
      if (row === undefined) continue;
      if (subAccountId !== plan.job.service.subAccountId || index.numbers[row] !== Number(destination)) break;
      index.states[row] = (index.states[row] ?? 0) | (1 << STATES.indexOf(state));
      const order =
        state === 'queued' ? 0 : Math.min(Math.max(atMs, 0), LATEST_MS) * RANKS + RECEIPT_STATES[state].rank;
      if (order < (index.order[row] ?? 0)) return;
      index.order[row] = order;
      index.places[row] = place;
      return;
    }
    foreign += 1;
  };
  try {
    for await (const { bytes, offset, isWhole } of splitLines(file)) {
      // A longer line is no receipt; one without its end was never acknowledged, and comes again.
      if (!isWhole || bytes.length >= LONGEST_LINE) continue;
      const receipt = readReceipt(bytes.toString('utf8'));
      if (receipt !== undefined) add(receipt, offset * LONGEST_LINE + bytes.length);
    }
  } catch (error) {
    await file.close();
    throw error;
  }

  const has = (step: number, row: number): boolean => (steps.get(step)?.order[row] ?? -1) >= 0;
  /** The newest receipt of a planned row, if any. */
  const receiptOf = async (step: number, row: number): Promise<Receipt | undefined> => {
    const index = steps.get(step);
    if (index === undefined || !has(step, row)) return undefined;
    const place = index.places[row] ?? 0;
    const length = place % LONGEST_LINE;
    const offset = (place - length) / LONGEST_LINE;
    const receipt = readReceipt((await window.read(offset, length)).toString('utf8'));
    if (receipt !== undefined) return receipt;
    throw new InternalError('unexpected', `Cannot read ${RECEIPTS_FILE} again: no receipt at byte ${offset}`);
  };
  return {
    /** How many are of another run, or have a number or subaccount that is not the message's. */
    foreign,
    has,
    /** Every state that the receipts of a planned row say. */
    statesOf(step: number, row: number): ReceiptState[] {
      const states = steps.get(step)?.states[row] ?? 0;
      return STATES.filter((_, bit) => (states & (1 << bit)) !== 0);
    },
    receiptOf,
    /** Reads the newest receipts of several rows, by the row, in the order of the file. */
    async receiptsOf(step: number, rows: readonly number[]): Promise<ReadonlyMap<number, Receipt>> {
      const places = steps.get(step)?.places ?? new Float64Array();
      const found = new Map<number, Receipt>();
      for (const row of rows.toSorted((one, other) => (places[one] ?? 0) - (places[other] ?? 0))) {
        const receipt = await receiptOf(step, row);
        if (receipt !== undefined) found.set(row, receipt);
      }
      return found;
    },
    close: () => file.close(),
  };
}

export type Receipts = NonNullable<Awaited<ReturnType<typeof openReceipts>>>;

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
