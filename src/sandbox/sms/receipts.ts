import type { Clock } from '../../ports/clock.js';
import type { Ledger } from '../ledger/ledger.js';
import type { SmsEntry } from '../ledger/page.js';
import type { WebhookSender } from '../webhook/sender.js';
import type { Post, WebhookLane } from '../webhook/webhook-lane.js';

/** The fields of an accepted message that its receipts use. */
export type Receipted = Pick<
  SmsEntry,
  | 'umid'
  | 'batchId'
  | 'clientMessageId'
  | 'clientBatchId'
  | 'subAccountId'
  | 'source'
  | 'destination'
  | 'parts'
  | 'scheduled'
  | 'dlrCallbackUrl'
>;

/** Documented; after the last the receipt is given up. */
const RETRY_DELAYS_MS = [1_000, 10_000, 30_000, 90_000];
const RECEIPTS_A_MESSAGE = 2;

/** The sandbox's own price: the service's depends on country and operator. */
const PRICE_PER_SMS = 0.01;
const CURRENCY = 'USD';

/** Numbers that end so are never reached. */
const UNREACHABLE = '0000';
const FAILURE = { errorCode: 1, errorMessage: 'Absent subscriber' };

/**
 * Delivery receipts of accepted messages that name an address for them: `sent`, and when that one is over `delivered`,
 * or `undelivered` for a number ending in 0000. Those of a scheduled message wait for its time and are dropped with a
 * cancelled batch.
 */
export interface ReceiptSender {
  /** The messages of one batch. */
  send(messages: readonly Receipted[]): void;
}

export function createReceipts(deps: { clock: Clock; ledger: Ledger; webhooks: WebhookSender }): ReceiptSender {
  const { clock, ledger, webhooks } = deps;
  const now = () => clock.now();
  return {
    send: (messages) => {
      for (const [dueMs, lanes] of groupByTime(messages, now)) {
        const sendAll = () => {
          for (const lane of lanes) webhooks.send(lane, RECEIPTS_A_MESSAGE);
        };
        const waitMs = dueMs - now();
        if (waitMs <= 0) sendAll();
        else {
          webhooks.later(waitMs, () => {
            const [first] = lanes;
            if (first !== undefined && !ledger.isCancelled(first.batchId)) sendAll();
          });
        }
      }
    },
  };
}

function groupByTime(messages: readonly Receipted[], now: () => number): Map<number, ReceiptLane[]> {
  const lanesOfTime = new Map<number, ReceiptLane[]>();
  for (const message of messages) {
    if (message.dlrCallbackUrl === null) continue;
    const dueMs = message.scheduled === null ? 0 : Date.parse(message.scheduled);
    const lanes = lanesOfTime.get(dueMs);
    const lane = new ReceiptLane(message, message.dlrCallbackUrl, now);
    if (lanes === undefined) lanesOfTime.set(dueMs, [lane]);
    else lanes.push(lane);
  }
  return lanesOfTime;
}

/** Keeps only the fields that receipts use: its text may be long, and 100,000 of these may wait. */
class ReceiptLane implements WebhookLane {
  readonly url: string;
  readonly batchId: string;
  readonly #now: () => number;
  readonly #umid: string;
  readonly #clientMessageId: string | null;
  readonly #clientBatchId: string | null;
  readonly #subAccountId: string;
  readonly #source: string | null;
  readonly #destination: string;
  readonly #parts: number;
  #isSent = false;
  /** When the state was reached, in ms since 1970: the same in every attempt. 0 until the first. */
  #reachedAt = 0;

  constructor(message: Receipted, url: string, now: () => number) {
    this.url = url;
    this.batchId = message.batchId;
    this.#now = now;
    this.#umid = message.umid;
    this.#clientMessageId = message.clientMessageId;
    this.#clientBatchId = message.clientBatchId;
    this.#subAccountId = message.subAccountId;
    this.#source = message.source;
    this.#destination = message.destination;
    this.#parts = message.parts;
  }

  build(): Post {
    if (this.#reachedAt === 0) this.#reachedAt = this.#now();
    const isFailed = this.#isSent && this.#destination.endsWith(UNREACHABLE);
    const payload = {
      umid: this.#umid,
      batchId: this.batchId,
      clientMessageId: this.#clientMessageId,
      clientBatchId: this.#clientBatchId,
      subAccountId: this.#subAccountId,
      source: this.#source,
      destination: `+${this.#destination.replace('+', '')}`,
      status: this.#status(isFailed),
      // Undelivered messages are not charged, and their receipts have no price.
      ...(isFailed ? {} : { price: priceOf(this.#parts) }),
      smsCount: this.#parts,
    };
    const body = {
      namespace: 'SMS',
      eventType: 'outbound_message_status_changed',
      description: 'SMS outbound message delivery receipt',
      payload,
    };
    return { headers: {}, body };
  }

  retryDelayMs(attempt: number): number | undefined {
    return RETRY_DELAYS_MS[attempt - 1];
  }

  advance(): void {
    this.#isSent = true;
    this.#reachedAt = 0;
  }

  #status(isFailed: boolean) {
    const timestamp = new Date(this.#reachedAt).toISOString();
    if (!this.#isSent) return { state: 'sent', timestamp };
    if (isFailed) return { state: 'undelivered', detail: 'undelivered_to_recipient', timestamp, ...FAILURE };
    return { state: 'delivered', detail: 'delivered_to_recipient', timestamp };
  }
}

function priceOf(parts: number) {
  // Two decimals: 3 × 0.01 is not 0.03 in binary.
  const total = Number((PRICE_PER_SMS * parts).toFixed(2));
  return { total, perSms: PRICE_PER_SMS, currency: CURRENCY };
}
