import { expect, test } from 'vitest';
import { readField, setField } from '../contract/contract-fields.js';
import { oneIn } from '../one-in.js';
import { basic } from './campaign/campaign-client.js';
import { MESSAGES } from './chat/chat-client.js';
import { aChannel, aWebhook, CONVERSATIONS } from './gateway/gateway-client.js';
import { aClient, aMessage, at, BATCH_PATH, type Client, CONTACTS_PATH } from './sandbox-client.js';
import { SESSIONS_PATH } from './verification/verification-client.js';

const FIELDS_OF_A_MESSAGE = {
  text: 'Hi',
  source: 'ACME',
  encoding: 'AUTO',
  scheduled: at(0),
  expiry: '2126-11-21T12:00:00Z',
  dlrCallbackUrl: 'http://127.0.0.1:9/',
};

/** Paths, and bodies with every field that the sandbox knows. */
const WHOLE: readonly (readonly [path: string, body: object])[] = [
  [
    BATCH_PATH,
    {
      clientBatchId: 'b1',
      includeMessagesInResponse: true,
      template: FIELDS_OF_A_MESSAGE,
      messages: [aMessage(1), aMessage(2, { ...FIELDS_OF_A_MESSAGE, country: 'SG' })],
    },
  ],
  [
    CONTACTS_PATH,
    {
      firstName: 'Ann',
      lastName: 'Lee',
      externalId: 'c-1',
      country: 'SG',
      groups: [{ id: 1042 }],
      customAttributes: { tier: 'gold' },
      addresses: { msisdn: '+6590000001', email: 'ann@shop.example', lineId: 'line-1' },
    },
  ],
  [
    SESSIONS_PATH,
    {
      destination: '+6590000001',
      country: 'SG',
      brand: 'ACME',
      template: '{code}',
      resetSession: true,
      codeLength: 4,
      codeValidity: 300,
      resendingInterval: 10,
      channel: 'sms',
      sms: { source: 'ACME', encoding: 'AUTO' },
    },
  ],
  [
    CONVERSATIONS,
    {
      channelId: 'sandbox-channel',
      assignment: { type: 'queue', id: '101' },
      user: { name: 'Ann', phone: '+6590000001', additionalProperties: [{ key: 'order', value: '4711' }] },
      history: { messages: [{ authorType: 'user', text: 'Hi' }] },
    },
  ],
  ['/chat-gateway/v1/webhooks', aWebhook('http://127.0.0.1:9/')],
  ['/chat-gateway/v1/channels', aChannel('1001', { description: 'The bot of the shop' })],
  [MESSAGES, { messageRaw: 'Hi', room: 'sales' }],
  ['/api/tstats/campaigns/101', { status: 'PAUSED' }],
];

const OTHERS = [undefined, null, 5, 1.5, true, '', 'x'.repeat(400), [], {}, [null], [{}], ['x']];

/** What libraries say of values, and no service. */
const FOREIGN_WORDS = /Invalid (input|option|string)|Too (big|small)|Unrecognized|^$/;

test.each(WHOLE)('%s takes its whole body, and refuses each field of another kind in its own words', async (...row) => {
  const [path, whole] = row;
  const client = await aClient({ rateLimits: {} });
  const post = (body: unknown) => ask(client, path, body);
  const cases = listPlaces(whole).flatMap((place) => OTHERS.map((other) => [place, other] as const));
  // Five and twelve share no factor: another value at each place.
  for (const [place, other] of oneIn(5, cases)) {
    const before = (await client.ledger()).length;
    const answer = await post(place === '' ? other : setField(whole, place, other));
    expect([place, other, answer.status], answer.text).toEqual([place, other, expect.toSatisfy(isRefusedOrTaken)]);
    if (answer.status < 400) continue;
    expect(answer.body.message ?? answer.body.fault.faultstring).not.toMatch(FOREIGN_WORDS);
    expect(await client.ledger()).toHaveLength(before);
  }
  await client.sandbox.clearLedger();
  if (path.endsWith('channels')) await ask(client, '/chat-gateway/v1/webhooks', aWebhook('http://127.0.0.1:9/'));
  expect((await post(whole)).status).toBeLessThan(300);
});

const isRefusedOrTaken = (status: number) => (status >= 200 && status < 300) || [400, 403, 409].includes(status);

/** '' and, with dots, every place in it. */
function listPlaces(body: object): string[] {
  const places = (value: unknown): string[] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, inner]) => [key, ...places(inner).map((place) => `${key}.${place}`)])
      : [];
  return ['', ...places(body)].filter((place) => place === '' || readField(body, place) !== undefined);
}

function ask(client: Client, path: string, body: unknown) {
  const { apiKey, chatKey, gatewayKey } = client.sandbox.credentials;
  const authorization = path.includes('campaigns') ? basic(client, 'actionToken') : `Bearer ${apiKey}`;
  const key = path.startsWith('/chat-gateway') ? gatewayKey : chatKey;
  return client.ask(body === undefined ? undefined : JSON.stringify(body), { path, authorization, key });
}
