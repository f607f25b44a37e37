import type { Clock } from '../../ports/clock.js';
import type { Posting, WebhookSender } from '../webhook/sender.js';
import type { SmsRow } from './batch-schema.js';

/** Documented; after the last the receipt is given up. */
const RETRY_DELAYS_MS = [1_000, 10_000, 30_000, 90_000];

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
  for (const [dueMs, postings] of groupByTime(messages, clock)) {
    const sendAll = () => {
      for (const posting of postings) webhooks.send(posting);
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

function groupByTime(messages: readonly SmsRow[], clock: Clock): Map<number, Posting[]> {
  const postingsAt = new Map<number, Posting[]>();
  for (const message of messages) {
    if (message.dlrCallbackUrl === null) continue;
    const dueMs = message.scheduled === null ? 0 : Date.parse(message.scheduled);
    const posting = postReceipts(message, message.dlrCallbackUrl, clock);
    const others = postingsAt.get(dueMs);
    if (others === undefined) postingsAt.set(dueMs, [posting]);
    else others.push(posting);
  }
  return postingsAt;
}

function postReceipts(message: SmsRow, url: string, clock: Clock): Posting {
  const { umid, batchId, clientMessageId, clientBatchId, subAccountId, source, parts } = message;
  const destination = `+${message.destination.replace('+', '')}`;
  // Only the fields that receipts use: a text may be long, and 100,000 of these may wait.
  const facts = { umid, batchId, clientMessageId, clientBatchId, subAccountId, source, destination };
  const receipt = (state: keyof typeof DETAILS) => {
    /** When the state was reached: the same in every attempt. */
    let timestamp: string | undefined;
    return () => {
      timestamp ??= new Date(clock.now()).toISOString();
      const isFailed = state === 'undelivered';
      const status = { state, ...DETAILS[state], timestamp, ...(isFailed ? FAILURE : {}) };
      // Undelivered messages are not charged, and their receipts have no price.
      const payload = { ...facts, status, ...(isFailed ? {} : { price: priceOf(parts) }), smsCount: parts };
      const description = 'SMS outbound message delivery receipt';
      return { body: { namespace: 'SMS', eventType: 'outbound_message_status_changed', description, payload } };
    };
  };
  const end = destination.endsWith(UNREACHABLE) ? 'undelivered' : 'delivered';
  return { url, posts: [receipt('sent'), receipt(end)], retryDelayMs: (attempt) => RETRY_DELAYS_MS[attempt - 1] };
}

const DETAILS = {
  sent: {},
  delivered: { detail: 'delivered_to_recipient' },
  undelivered: { detail: 'undelivered_to_recipient' },
} as const;

function priceOf(parts: number) {
  // Two decimals: 3 × 0.01 is not 0.03 in binary.
  const total = Number((PRICE_PER_SMS * parts).toFixed(2));
  return { total, perSms: PRICE_PER_SMS, currency: CURRENCY };
}
