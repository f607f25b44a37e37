import { describe, expect, test } from 'vitest';
import { ENDPOINTS } from '../../src/domain/service-facts.js';
import type { ServiceAddresses } from '../../src/job/job.js';
import { type CallLane, createCaller } from '../../src/service/caller.js';
import { createClients, type ServiceClients } from '../../src/service/clients.js';
import { createAuthorize } from '../../src/service/service-secrets.js';
import { FakeClock } from '../run/fake-clock.js';
import { aTransport } from './a-call.js';
import { aRecorder, type RecorderAnswer } from './a-recorder.js';
import { someAddresses } from './an-answer.js';

const TOKENS = { username: 'acme', dataToken: 'data-token', actionToken: 'action-token' };
const KEYS = { sms: 'k-1', contacts: 'k-1', verification: 'k-1', gateway: 'k-2', chat: 'k-2' };
const authorize = createAuthorize({ ...KEYS, campaign: TOKENS });
const basic = (token: string) => ({ authorization: `Basic ${Buffer.from(`acme:${token}`).toString('base64')}` });

/** Contract, "Authentication", and the forms of an answer. */
function headersOf(area: string, method: string, body: string) {
  const ofArea =
    area === 'gateway' ? { accept: 'application/hal+json', 'x-8x8-tenant': 'acme02' } : { accept: 'application/json' };
  const asked = { ...ofArea, 'accept-encoding': 'identity', 'user-agent': 'volley' };
  const all = body === '' ? asked : { ...asked, 'content-type': 'application/json' };
  if (area === 'campaign') return { ...all, ...basic(method === 'GET' ? 'data-token' : 'action-token') };
  const hasOwnHeader = area === 'gateway' || area === 'chat';
  return { ...all, ...(hasOwnHeader ? { 'x-api-key': 'k-2' } : { authorization: 'Bearer k-1' }) };
}

function someClients(service: ServiceAddresses): ServiceClients {
  const nothing = { pauseFor: () => {}, slowDown: () => {}, noteSuccess: () => {} };
  const laneOf = (): CallLane => ({ run: (_cost, task) => task(async () => {}), ...nothing });
  const [transport, clock] = [aTransport(), new FakeClock()];
  return createClients(createCaller({ service, transport, authorize, laneOf, clock, giveUpAfterMs: 0 }));
}

/** Makes one call and gives what the server got: the headers without those of the connection. */
async function record([name, input, answer]: Row) {
  const recorder = await aRecorder(answer);
  const clients = someClients(
    someAddresses({ subAccountId: 'Acme.SG&1', tenant: 'acme02' }, `${recorder.base}/proxy/api/v1`),
  );
  const [area = '', call = ''] = name.split('.');
  const client = clients[area as keyof ServiceClients] as unknown as Record<string, (input: unknown) => unknown>;
  expect(await client[call]?.(input)).toBeDefined();
  expect(recorder.requests).toHaveLength(1);
  const { method, url, headers, body } = recorder.requests[0]!;
  const { host: _host, connection: _connection, 'content-length': length, ...others } = headers;
  expect(length).toBe(body.length === 0 ? undefined : String(body.length));
  return { line: `${method} ${url}`, headers: others, body: body.toString('utf8') };
}

/** What a call is given, what is answered, and what is sent: an input is the body where none is named. */
type Row = readonly [name: string, input: unknown, answer: RecorderAnswer, line: string, body?: string];

const SESSION = { body: { uid: 's-1', status: 'WAITING' } };
const BATCH = { body: { batchId: 'b', acceptedCount: 1, rejectedCount: 0, messages: null } };
const CONVERSATIONS = '/chat-gateway/v1/conversations';
const CHAT = '/chat/api/chat/v1/messages';

const ROWS: readonly Row[] = [
  [
    'sms.sendBatch',
    {
      messages: [{ destination: '+6591234567', clientMessageId: 'm-1' }],
      template: { source: 'ACME', text: 'Grüße 👋', encoding: 'AUTO' },
      clientBatchId: 'b-1',
      includeMessagesInResponse: true,
    },
    BATCH,
    'POST /api/v1/subaccounts/acme_hq/messages/batch',
  ],
  [
    'contacts.createContact',
    { firstName: 'Zoë', groups: [{ id: 1042 }], addresses: { msisdn: '+6591234567' } },
    { status: 201, headers: { location: '/accounts/acme/contacts/7' } },
    'POST /accounts/acme/contacts',
  ],
  [
    'verification.createSession',
    { destination: '9123 4567', country: 'SG', template: '{brand}: {code}', codeLength: 6, sms: { source: 'ACME' } },
    SESSION,
    'POST /api/v2/subaccounts/acme_hq/sessions',
  ],
  ['verification.readSession', { sessionId: 's-1' }, SESSION, 'GET /api/v2/subaccounts/acme_hq/sessions/s-1', ''],
  [
    'verification.checkCode',
    { sessionId: 's-1', code: '1 2&code=3#' },
    SESSION,
    'GET /api/v2/subaccounts/acme_hq/sessions/s-1?code=1%202%26code%3D3%23',
    '',
  ],
  [
    'gateway.createWebhook',
    { name: 'events', url: 'https://client.example/events' },
    { body: { id: '12', name: 'events' } },
    'POST /chat-gateway/v1/webhooks',
    '{"name":"events","uri":"https://client.example/events","version":"Chat Gateway","notificationVersion":"Chat Gateway"}',
  ],
  [
    'gateway.createChannel',
    { name: 'bot', description: 'from the bot', webhookId: '12', queue: '101' },
    { body: { id: '25', name: 'bot' } },
    'POST /chat-gateway/v1/channels',
    '{"name":"bot","description":"from the bot","type":"ChatAPI","webHookId":"12","routingOptions":{"type":"queue","id":"101"}}',
  ],
  [
    'gateway.createConversation',
    {
      channelId: '25',
      assignment: { type: 'queue', id: '101' },
      user: { language: 'en', name: 'Zoë', additionalProperties: [{ key: 'plan', value: 'gold' }] },
      history: { messages: [{ authorType: 'bot', text: 'Hello' }] },
    },
    { status: 202, body: { conversationId: 'c-1' } },
    `POST ${CONVERSATIONS}`,
  ],
  [
    'gateway.updateConversation',
    { conversationId: 'c-1', assignment: { type: 'queue', id: '102' }, user: { name: 'Zoë' } },
    { status: 202 },
    `PATCH ${CONVERSATIONS}/c-1`,
    '{"assignment":{"type":"queue","id":"102"},"user":{"name":"Zoë"}}',
  ],
  [
    'gateway.sendMessage',
    { conversationId: 'c-1', text: 'Grüße 👋' },
    { status: 202 },
    `POST ${CONVERSATIONS}/c-1/messages`,
    '{"authorType":"user","text":"Grüße 👋"}',
  ],
  [
    'campaign.readCampaign',
    { campaignId: 101 },
    { body: { campaign: { 'campaign-id': 101, status: 3 } } },
    'GET /api/stats/campaigns/101.json',
    '',
  ],
  [
    'campaign.changeCampaign',
    { campaignId: 101, target: 'PAUSED' },
    { body: { message: 'Campaign status changed.' } },
    'POST /api/tstats/campaigns/101',
    '{"status":"PAUSED"}',
  ],
  [
    'chat.readMessages',
    { pageSize: 5, room: 'Ops & +' },
    { body: [] },
    `GET ${CHAT}?pageSize=5&room=Ops%20%26%20%2B`,
    '',
  ],
  ['chat.readMessages', undefined, { body: [] }, `GET ${CHAT}`, ''],
  ['chat.postMessage', { messageRaw: 'Grüße 👋\n', room: 'Ops' }, { body: {} }, `POST ${CHAT}`],
];

describe('a client', () => {
  test('has a row in the table for every function it has', () => {
    const functions = Object.entries(someClients(someAddresses())).flatMap(([area, client]) =>
      Object.keys(client).map((name) => `${area}.${name}`),
    );
    expect(new Set(ROWS.map(([name]) => name))).toEqual(new Set(functions));
  });

  test.each(ROWS.map((row) => [row[0], row[3], row] as const))(
    '%s sends exactly %s, behind the path of its base, to the subaccount that the job names',
    async (name, line, row) => {
      const [, input, , , body = JSON.stringify(input)] = row;
      const headers = headersOf(name.split('.')[0]!, line.split(' ')[0]!, body);
      const there = line.replace(' /', ' /proxy/api/v1/').replace('acme_hq', 'Acme.SG%261');
      expect(await record(row)).toEqual({ line: there, headers, body });
    },
  );
});

test('only a call that reads, or that sets the same values again, may be repeated', () => {
  const repeatable = Object.entries(ENDPOINTS).flatMap(([name, { isRepeatable }]) => (isRepeatable ? [name] : []));
  expect(repeatable.filter((name) => !name.startsWith('read'))).toEqual(['createContact', 'updateConversation']);
  expect(repeatable).toContain('readSession');
});
