import { z } from 'zod';
import { defineRoute, type Route } from '../area.js';
import { aValue, bodyOf, isMsisdn, isText, isWebAddress } from '../body-schema.js';
import type { PostKind } from '../webhook/sender.js';
import { repeatDelayMs } from './receipts.js';

const NO_TEXT = 'Cannot send: text must be a text of at least one character';

const schema = bodyOf({
  url: aValue<string>(isWebAddress, 'Cannot send: url is not a web address, expected that of a receiver'),
  source: aValue<string>(
    isMsisdn,
    'Cannot send: source is not a number, expected the one that writes, such as +6591234567',
  ),
  destination: aValue<string>(isMsisdn, 'Cannot send: destination is not a number').default('+6598765432'),
  text: aValue<string>((value) => isText(value), NO_TEXT),
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
