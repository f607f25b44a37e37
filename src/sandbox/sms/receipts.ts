import type { Clock } from '../../ports/clock.js';
import type { WebhookSender } from '../webhook/sender.js';
import type { Post, WebhookLane } from '../webhook/webhook-lane.js';
import type { SmsRow } from './batch-schema.js';

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
 * Delivery receipts of the messages of one batch that name an address for them: `sent`, and when that one is over
 * `delivered`, or `undelivered` for a number ending in 0000. Those of a scheduled message wait for its time and are
 * dropped if the batch is cancelled by then.
 */
export function sendReceipts(
  webhooks: WebhookSender,
  messages: readonly SmsRow[],
  clock: Clock,
  isCancelled: (batchId: string) => boolean,
): void {
  for (const [dueMs, lanes] of groupByTime(messages, clock)) {
    const sendAll = () => {
      for (const lane of lanes) webhooks.send(lane, RECEIPTS_A_MESSAGE);
    };
    const waitMs = dueMs - clock.now();
    if (waitMs <= 0) sendAll();
    else {
      webhooks.later(waitMs, () => {
        if (!isCancelled(messages[0]?.batchId ?? '')) sendAll();
      });
    }
  }
}

function groupByTime(messages: readonly SmsRow[], clock: Clock): Map<number, ReceiptLane[]> {
  const lanesOfTime = new Map<number, ReceiptLane[]>();
  for (const message of messages) {
    if (message.dlrCallbackUrl === null) continue;
    const dueMs = message.scheduled === null ? 0 : Date.parse(message.scheduled);
    const lane = new ReceiptLane(message, message.dlrCallbackUrl, clock);
    const lanes = lanesOfTime.get(dueMs);
    if (lanes === undefined) lanesOfTime.set(dueMs, [lane]);
    else lanes.push(lane);
  }
  return lanesOfTime;
}

class ReceiptLane implements WebhookLane {
  readonly url: string;
  readonly #clock: Clock;
  /** Only the fields that receipts use: a text may be long, and 100,000 of these may wait. */
  readonly #facts;
  #isSent = false;
  /** When the state was reached, in ms since 1970: the same in every attempt. 0 until the first. */
  #reachedAt = 0;

  constructor(message: SmsRow, url: string, clock: Clock) {
    const { umid, batchId, clientMessageId, clientBatchId, subAccountId, source, parts } = message;
    const destination = `+${message.destination.replace('+', '')}`;
    this.url = url;
    this.#clock = clock;
    this.#facts = { umid, batchId, clientMessageId, clientBatchId, subAccountId, source, destination, smsCount: parts };
  }

  build(): Post {
    if (this.#reachedAt === 0) this.#reachedAt = this.#clock.now();
    const timestamp = new Date(this.#reachedAt).toISOString();
    const { destination, smsCount } = this.#facts;
    const isFailed = this.#isSent && destination.endsWith(UNREACHABLE);
    const status = isFailed
      ? { state: 'undelivered', detail: 'undelivered_to_recipient', timestamp, ...FAILURE }
      : this.#isSent
        ? { state: 'delivered', detail: 'delivered_to_recipient', timestamp }
        : { state: 'sent', timestamp };
    // Undelivered messages are not charged, and their receipts have no price.
    const payload = { ...this.#facts, status, ...(isFailed ? {} : { price: priceOf(smsCount) }) };
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
}

function priceOf(parts: number) {
  // Two decimals: 3 × 0.01 is not 0.03 in binary.
  const total = Number((PRICE_PER_SMS * parts).toFixed(2));
  return { total, perSms: PRICE_PER_SMS, currency: CURRENCY };
}
