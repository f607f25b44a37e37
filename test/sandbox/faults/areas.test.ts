import { expect, test } from 'vitest';
import type { FaultInput } from '../../../src/sandbox/faults/fault.js';
import { readField } from '../../contract/contract-fields.js';
import { changeCampaign, readCampaign } from '../campaign/campaign-client.js';
import { post, read } from '../chat/chat-client.js';
import { aConversation, ask, aWebhook, openConversation, update } from '../gateway/gateway-client.js';
import { type Answered, aBatch, aClient, aContact, type Client } from '../sandbox-client.js';
import { createSession, readSession } from '../verification/verification-client.js';

const text = expect.any(String);
const CODED = { code: expect.any(Number), message: text, errorId: text, timestamp: text };
const PROBLEM = { message: text, errors: [{ code: text, message: text }], referenceId: text };
const FAULT = { fault: { faultstring: text, detail: { errorcode: text } } };

/** For each area a request that leaves one entry in the ledger, and the form of its errors. */
const AREAS: readonly (readonly [area: string, ask: (client: Client) => Promise<Answered>, form: object])[] = [
  ['sms', (client) => client.sendBatch(aBatch(1)), CODED],
  ['contacts', (client) => client.createContact(aContact()), CODED],
  ['verification', (client) => createSession(client), CODED],
  ['gateway', (client) => ask(client, aConversation()), PROBLEM],
  ['campaign', (client) => changeCampaign(client, 101, 'PAUSED'), { message: text }],
  ['chat', (client) => post(client, { messageRaw: 'Hi' }), FAULT],
];
/** A batch is answered 200 for refused rows, a campaign has none. */
const OF_ONE_ROW = AREAS.filter(([area]) => area !== 'sms' && area !== 'campaign');

/** What a first request that the fault strikes is answered, and how many entries it leaves. */
async function strike(request: (client: Client) => Promise<Answered>, fault: FaultInput) {
  const client = await aClient({}, { ...fault, times: 1 });
  const answer = await request(client).catch(() => undefined);
  return { answer, entries: (await client.ledger()).length };
}

test.each(AREAS)('a status before anything is processed has the form of its area: %s', async (_, request, form) => {
  for (const status of [400, 401, 404, 500] as const) {
    const { answer, entries } = await strike(request, { kind: `status-${status}` });
    expect([answer?.status, answer?.body, entries]).toEqual([status, form, 0]);
  }
});

test.each(AREAS)('what something in between answers is a page: %s', async (_, request) => {
  for (const fault of [
    { kind: 'status-408' },
    { kind: 'status-502' },
    { kind: 'status-504' },
    { kind: 'status-599' },
    { kind: 'status-503', retryAfterForm: 'none' },
  ] as const) {
    const { answer, entries } = await strike(request, fault);
    const { status, headers, text } = answer!;
    expect([`status-${status}`, headers['content-type'], headers['retry-after'], entries]).toEqual([
      fault.kind,
      'text/html; charset=utf-8',
      undefined,
      0,
    ]);
    expect(text).toContain('<html>');
  }
});

test.each(AREAS)('an answer that is lost or spoilt was processed all the same: %s', async (_, request) => {
  for (const kind of ['reset-after', 'close-after', 'truncated', 'empty', 'html', 'status-after'] as const)
    expect([kind, (await strike(request, { kind })).entries]).toEqual([kind, 1]);
});

test.each(OF_ONE_ROW)('a row is refused with 400 or 500, in the form of its area: %s', async (_, request, form) => {
  const refused = await strike(request, { kind: 'reject-rows', description: 'No' });
  expect([refused.answer?.status, refused.answer?.body, refused.entries]).toEqual([400, form, 0]);
  expect(refused.answer?.text).toContain('No');
  const failed = await strike(request, { kind: 'internal-rows' });
  expect([failed.answer?.status, failed.answer?.body, failed.entries]).toEqual([500, form, 0]);
  // By the end of its number: none of these has another.
  expect((await strike(request, { kind: 'reject-rows', endingWith: '7' })).entries).toBe(1);
});

type Asking = (client: Client) => Promise<() => Promise<Answered>>;

/** Of each area what is asked twice, and where its answer names what it is about. */
const NAMED: readonly (readonly [what: string, prepare: Asking, id: string])[] = [
  ['contacts, a contact', async (client) => () => client.createContact(aContact()), 'id'],
  [
    'verification, a creation',
    async (client) => {
      let number = 6_590_000_000;
      return () => createSession(client, { destination: `+${++number}` });
    },
    'sessionID',
  ],
  [
    'verification, a read',
    async (client) => {
      const { sessionID } = (await createSession(client)).body;
      return () => readSession(client, sessionID);
    },
    'uid',
  ],
  ['gateway, a conversation', async (client) => () => ask(client, aConversation()), 'conversationId'],
  [
    'gateway, a webhook',
    async (client) => () => ask(client, aWebhook('http://127.0.0.1:9/'), { path: '/chat-gateway/v1/webhooks' }),
    'id',
  ],
  [
    'gateway, an update',
    async (client) => {
      const id = await openConversation(client);
      return () => update(client, id, { user: {} });
    },
    'id',
  ],
  ['campaign, a read', async (client) => () => readCampaign(client, 101), 'campaign.campaign-id'],
  ['chat, a post', async (client) => () => post(client, { messageRaw: 'Hi' }), 'id'],
];

test.each(NAMED)('partial leaves the id out, and foreign has that of another: %s', async (_, prepare, id) => {
  const client = await aClient();
  const call = await prepare(client);
  client.sandbox.setFaults([{ kind: 'partial', nth: 1 }, { kind: 'foreign' }]);
  const partial = await call();
  expect([partial.status < 300, readField(partial.body, id)]).toEqual([true, undefined]);
  const foreign = await call();
  expect([foreign.status < 300, readField(foreign.body, id)]).toEqual([true, expect.anything()]);
  const own = (await client.ledger()).at(-1) ?? { campaign: 101 };
  expect(Object.values(own)).not.toContain(readField(foreign.body, id));
});

test('partial leaves the ids out of messages that are read, and foreign gives those of an earlier read', async () => {
  const client = await aClient();
  await read(client);
  await post(client, { messageRaw: 'Hi' });
  client.sandbox.setFaults([{ kind: 'foreign', nth: 1 }, { kind: 'partial' }]);
  expect((await read(client)).body).toEqual([]);
  expect((await read(client)).body[0]).not.toHaveProperty('id');
});
