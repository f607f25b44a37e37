import { isObject, readKept } from '../domain/is-object.js';
import { parseServiceTime } from '../domain/stated-time.js';
import { parseDecimal } from '../prices/decimal.js';

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
export const RECEIPT_STATES = {
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
export function readReceipt(line: string): Receipt | undefined {
  const { kind, receivedAt, event } = asObject(readKept(line));
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
