import { describe, expect, test } from 'vitest';
import type { Response } from '../../src/service/answer.js';
import { createClients } from '../../src/service/clients.js';
import { aResponse } from './an-answer.js';

const MESSAGE = { umid: 'u-1', clientMessageId: 'm-1', destination: '6591234567', encoding: 'GSM7' };
const SESSION = { destination: 6591234567, status: 'WAITING', attempt: 0, expiresAt: '2026-12-18T05:59:54.09Z' };
const AUTHOR = { avatarUrl: 'https://a.example/z.png', email: 'zoe@example.com', id: 'u-1', name: 'Zoë' };

/** What each call is given, and its answer as the contract has it. */
const ANSWERS: Readonly<Record<string, readonly [input: object, body: unknown]>> = {
  'sms.sendBatch': [
    { messages: [] },
    {
      batchId: 'b-1',
      clientBatchId: 'c-1',
      acceptedCount: 1,
      rejectedCount: 0,
      messages: [{ ...MESSAGE, status: { code: 'QUEUED', description: '10, 1234567890123456789 "é"' } }],
    },
  ],
  'contacts.createContact': [{ addresses: {} }, { id: 41764986, addresses: { msisdn: '6591234567' } }],
  'verification.createSession': [{ destination: '+6591234567' }, { sessionID: 's-1', verifyUri: '/s-1', ...SESSION }],
  'verification.readSession': [{ sessionId: 's-1' }, { uid: 's-1', resourceUri: '/s-1', ...SESSION }],
  'verification.checkCode': [
    { sessionId: 's-1', code: '1234' },
    { uid: 's-1', ...SESSION, attempt: 1 },
  ],
  'gateway.createWebhook': [
    { name: 'events', url: 'https://c.example' },
    { id: '12', name: 'events' },
  ],
  'gateway.createChannel': [
    { name: 'bot', webhookId: '12', queue: '101' },
    { id: '25', name: 'bot', webHookId: '12' },
  ],
  'gateway.createConversation': [{}, { conversationId: 'c-1', createdAt: '2026-01-30T08:30:00Z' }],
  'gateway.updateConversation': [{ conversationId: 'c-1' }, { id: 'c-1', state: 'active' }],
  'gateway.sendMessage': [{ conversationId: 'c-1' }, { messageId: 'm-1' }],
  'campaign.readCampaign': [
    { campaignId: 101 },
    { campaign: { 'campaign-id': 101, 'campaign-name': 'é', status: 3, enabled: 'Y', 'caller-id': 6560000000 } },
  ],
  'campaign.changeCampaign': [{ campaignId: 101, target: 'PAUSED' }, { message: 'Campaign status changed.' }],
  'chat.readMessages': [{}, [{ authorUser: AUTHOR, parsed: 'Hello', id: 'm-1', timestamp: 1594918006814947 }]],
  'chat.postMessage': [{}, { parsed: 'Hello' }],
};

/** What a call makes of an answer. */
function read(name: string, body: Response['body'], input = ANSWERS[name]?.[0]): unknown {
  const [area = '', call = ''] = name.split('.');
  const response = { ...aResponse('', 200), body };
  const clients = createClients(async (endpoint, given) => endpoint.read(response, given) as never);
  return Reflect.get(Reflect.get(clients, area), call)(input);
}

const write = (body: unknown) => Buffer.from(JSON.stringify(body));

/** `change` of each object in a body, the innermost first. */
function changeEach(body: unknown, change: (members: object) => object): unknown {
  if (Array.isArray(body)) return body.map((entry) => changeEach(entry, change));
  if (typeof body !== 'object' || body === null) return body;
  return change(Object.fromEntries(Object.entries(body).map(([key, value]) => [key, changeEach(value, change)])));
}

const OMITTED = { uid: '', sessionId: null, messageId: '', conversationId: '', nextSmsAfter: null };
const FORMS: readonly (readonly [title: string, form: (body: unknown) => Buffer])[] = [
  ['a byte order mark before it', (body) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), write(body)])],
  ['blanks and line breaks in it', (body) => Buffer.from(`\r\n${JSON.stringify(body, null, 2)}\r\n`)],
  ['its letters as escapes', (body) => Buffer.from(JSON.stringify(body).replaceAll('é', '\\u00e9'))],
  [
    'its members in another order',
    (body) => write(changeEach(body, (all) => Object.fromEntries(Object.entries(all).reverse()))),
  ],
  ['members that are new', (body) => write(changeEach(body, (all) => ({ links: [{ rel: 1 }], total: 1.5, ...all })))],
  ['null and empty text for what it omits', (body) => write(changeEach(body, (all) => ({ ...OMITTED, ...all })))],
  [
    'integers that no number holds',
    (body) => {
      const text = JSON.stringify(changeEach(body, (all) => ({ sequence: ['LONG'], ...all })));
      return Buffer.from(text.replaceAll('"LONG"', '9223372036854775807'));
    },
  ],
];

const NAMES = Object.keys(ANSWERS);

test('the answers below are those to every call', () => {
  const clients = createClients(async () => undefined as never);
  const all = Object.entries(clients).flatMap(([area, calls]) => Object.keys(calls).map((call) => `${area}.${call}`));
  expect(NAMES.sort()).toEqual(all.sort());
});

describe.each(FORMS)('an answer with %s says the same', (_, form) => {
  test.each(NAMES)('to %s', async (name) => {
    const body = ANSWERS[name]?.[1];
    const plain = await read(name, write(body));
    expect(plain).toBeDefined();
    expect(without(await read(name, form(body)))).toEqual(without(plain));
  });
});

/** The fields of a campaign are all that its answer has. */
function without(answer: unknown): unknown {
  return typeof answer === 'object' && answer !== null && 'fields' in answer
    ? { ...answer, fields: undefined }
    : answer;
}

describe.each([
  ['text', '"41764986"', '41764986'],
  ['a number', '41764986', '41764986'],
  ['a number of 64 bits', '9223372036854775807', '9223372036854775807'],
  ['a negative number', '-9223372036854775807', '-9223372036854775807'],
])('an id that is %s', (_, written, id) => {
  test.each<[name: string, body: string, answer: object]>([
    ['sms.sendBatch', '{"batchId":<id>,"messages":[{"umid":<id>}]}', { batchId: id, messages: [{ umid: id }] }],
    ['contacts.createContact', '{"id":<id>}', { contactId: id }],
    ['verification.createSession', '{"sessionID":<id>,"status":"WAITING"}', { sessionId: id }],
    ['verification.readSession', '{"uid":<id>,"status":"WAITING"}', { sessionId: id }],
    ['gateway.createWebhook', '{"id":<id>,"name":"events"}', { webhookId: id }],
    ['gateway.createChannel', '{"id":<id>,"name":"bot"}', { channelId: id }],
    ['gateway.createConversation', '{"conversationId":<id>}', { conversationId: id }],
    ['gateway.updateConversation', '{"id":<id>,"state":"idle"}', { conversationId: id, state: 'idle' }],
    ['gateway.sendMessage', '{"messageId":<id>}', { messageId: id }],
  ])('is read whole in the answer to %s', async (name, body, answer) => {
    const input = { ...ANSWERS[name]?.[0], sessionId: id, conversationId: id };
    expect(await read(name, Buffer.from(body.replaceAll('<id>', written)), input)).toMatchObject(answer);
  });
});
