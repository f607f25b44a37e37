import { z } from 'zod';
import { defineRoute, type Route } from '../area.js';
import { absoluteUrl, msisdn, someText } from '../body-schema.js';
import type { PostKind } from '../webhook/sender.js';
import { repeatDelayMs } from './receipts.js';

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
  return defineRoute({
    method: 'POST',
    path: '/_sandbox/inbound',
    who: 'anyone',
    schema,
    handle: ({ body: { url, text, ...from } }) => {
      const message = { umid: newId(), ...from, body: text };
      return { status: 202, body: message, posts: (webhooks) => webhooks.send(INBOUND, url, message) };
    },
  });
}
