import { z } from 'zod';
import { remember } from '../../domain/is-object.js';
import type { Clock } from '../../ports/clock.js';
import { absoluteUrl, defineRoute, msisdn, type Route, someText } from '../area.js';
import type { PostKind, WebhookSender } from '../webhook-sender.js';
import type { SmsRow } from './batch-schema.js';

/** Documented; after the last the receipt is given up. */
const RETRY_DELAYS_MS = [1_000, 10_000, 30_000, 90_000];

/** How long a receipt, or what a person wrote, waits for its next attempt; undefined after the last. */
const repeatDelayMs = (attempt: number): number | undefined => RETRY_DELAYS_MS[attempt - 1];

/** The sandbox's own price: the service's depends on country and operator. */
const PRICE_PER_SMS = 0.01;

/** Numbers that end so are never reached. */
const UNREACHABLE = '0000';
const UNDELIVERED = {
  state: 'undelivered',
  detail: 'undelivered_to_recipient',
  errorCode: 1,
  errorMessage: 'Absent subscriber',
};

/** The fields of a message that receipts use: its text may be long, and 100,000 of these may wait. */
type Facts = ReturnType<typeof toFacts>;

/** `sent`, and when that one is over `delivered`, or `undelivered` for a number ending in 0000. */
const RECEIPTS: PostKind<Facts> = {
  count: 2,
  retryDelayMs: repeatDelayMs,
  build: ({ parts, ...message }, place, _, timestamp) => {
    const isFailed = place === 1 && message.destination.endsWith(UNREACHABLE);
    const reached = place === 0 ? { state: 'sent' } : { state: 'delivered', detail: 'delivered_to_recipient' };
    // Two decimals: 3 × 0.01 is not 0.03 in binary. Undelivered messages are not charged.
    const price = { total: Number((PRICE_PER_SMS * parts).toFixed(2)), perSms: PRICE_PER_SMS, currency: 'USD' };
    const payload = {
      ...message,
      status: { ...(isFailed ? UNDELIVERED : reached), timestamp },
      ...(isFailed ? {} : { price }),
      smsCount: parts,
    };
    const description = 'SMS outbound message delivery receipt';
    return { body: { namespace: 'SMS', eventType: 'outbound_message_status_changed', description, payload } };
  },
};

/**
 * Receipts of the messages of one batch that name an address for them. Those of a scheduled message wait for its time
 * and are dropped if the batch is cancelled by then.
 */
export function sendReceipts(
  webhooks: WebhookSender,
  messages: readonly SmsRow[],
  clock: Clock,
  isCancelled: (batchId: string) => boolean,
): void {
  const dueAt = new Map<number, { url: string; facts: Facts }[]>();
  for (const message of messages) {
    const { dlrCallbackUrl: url, scheduled } = message;
    if (url === null) continue;
    const dueMs = scheduled === null ? 0 : Date.parse(scheduled);
    remember(dueAt, dueMs, () => []).push({ url, facts: toFacts(message) });
  }
  for (const [dueMs, due] of dueAt) {
    const sendAll = () => {
      for (const { url, facts } of due) webhooks.send(RECEIPTS, url, facts);
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

function toFacts({ umid, batchId, clientMessageId, clientBatchId, subAccountId, source, destination, parts }: SmsRow) {
  const international = `+${destination.replace('+', '')}`;
  return { umid, batchId, clientMessageId, clientBatchId, subAccountId, source, destination: international, parts };
}

const schema = z.object({
  /** The address of the receiver. */
  url: absoluteUrl,
  /** Who writes. */
  source: msisdn,
  destination: msisdn.default('+6598765432'),
  text: someText,
  subAccountId: z.string().default('acme_hq'),
});

const INBOUND: PostKind<object> = {
  count: 1,
  retryDelayMs: repeatDelayMs,
  build: (message, _place, _attempt, timestamp) => ({
    body: {
      namespace: 'SMS',
      eventType: 'inbound_message_received',
      description: 'SMS inbound message',
      payload: { ...message, timestamp },
    },
  }),
};

/** Plays a person who writes an SMS to the account: `url` gets it. It is in no ledger. */
export function inboundRoute(newId: () => string): Route {
  return defineRoute('POST /_sandbox/inbound', 'anyone', {
    schema,
    handle: ({ body: { url, text, ...from } }) => {
      const message = { umid: newId(), ...from, body: text };
      return { status: 202, body: message, posts: (webhooks) => webhooks.send(INBOUND, url, message) };
    },
  });
}
