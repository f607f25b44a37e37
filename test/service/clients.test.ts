import { describe, expect, test } from 'vitest';
import { basesByRegion, ENDPOINTS, REGIONS } from '../../src/domain/service-facts.js';
import type { ServiceAddresses } from '../../src/job/job.js';
import { createContact } from '../../src/service/areas/contacts.js';
import { sendBatch } from '../../src/service/areas/sms.js';
import { createSession } from '../../src/service/areas/verification.js';
import { createAuthorize } from '../../src/service/authorize.js';
import { type CallLane, createCaller } from '../../src/service/caller.js';
import { createClients, type ServiceClients } from '../../src/service/clients.js';
import { FakeClock } from '../run/fake-clock.js';
import { aTransport } from './a-call.js';
import { aRecorder, type RecorderAnswer } from './a-recorder.js';
import { someAddresses } from './an-answer.js';

/** Contract, "Authentication". */
const BEARER = { authorization: 'Bearer k-1' };
const API_KEY = { 'x-api-key': 'k-2' };
const DATA = { authorization: `Basic ${Buffer.from('acme:data-token').toString('base64')}` };
const ACTION = { authorization: `Basic ${Buffer.from('acme:action-token').toString('base64')}` };
const JSON_BODY = { accept: 'application/json', 'content-type': 'application/json' };
const HAL_BODY = { accept: 'application/hal+json', 'content-type': 'application/json' };
const JSON_ANSWER = { accept: 'application/json' };

const TOKENS = { username: 'acme', dataToken: 'data-token', actionToken: 'action-token' };
const authorize = createAuthorize({
  sms: 'k-1',
  contacts: 'k-1',
  verification: 'k-1',
  gateway: 'k-2',
  chat: 'k-2',
  campaign: TOKENS,
});

const PASSING_LANE: CallLane = {
  run: (_cost, task) => task(async () => {}),
  pauseFor: () => {},
  slowDown: () => {},
  noteSuccess: () => {},
};

function someClients(service: ServiceAddresses): ServiceClients {
  return createClients(
    createCaller({
      service,
      transport: aTransport(),
      authorize,
      laneOf: () => PASSING_LANE,
      clock: new FakeClock(),
      giveUpAfterMs: 0,
    }),
  );
}

/** Makes one call and gives what the server got: the headers without those of the connection. */
async function record(
  call: (clients: ServiceClients) => Promise<unknown>,
  {
    answer,
    addresses,
    prefix = '',
  }: { answer: RecorderAnswer; addresses?: Partial<ServiceAddresses>; prefix?: string },
) {
  const recorder = await aRecorder(answer);
  const output = await call(someClients(someAddresses(addresses, `${recorder.base}${prefix}`)));
  expect(recorder.requests).toHaveLength(1);
  const [request] = recorder.requests;
  const { host: _host, connection: _connection, 'content-length': length, ...headers } = request!.headers;
  expect(length).toBe(request!.body.length === 0 ? undefined : String(request!.body.length));
  return { output, line: `${request!.method} ${request!.url}`, headers, body: request!.body.toString('utf8') };
}

interface Row {
  readonly name: string;
  readonly call: (clients: ServiceClients) => Promise<unknown>;
  readonly answer: RecorderAnswer;
  readonly line: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const SESSION = { uid: 's-1', status: 'WAITING' };
const CAMPAIGN = { campaign: { 'campaign-id': 101, status: 3 } };
const CONVERSATION = '/chat-gateway/v1/conversations';

const ROWS: readonly Row[] = [
  {
    name: 'sms.sendBatch',
    call: ({ sms }) =>
      sms.sendBatch({
        messages: [{ destination: '+6591234567', clientMessageId: 'm-1' }],
        template: { source: 'ACME', text: 'Grüße 👋', encoding: 'AUTO' },
        clientBatchId: 'b-1',
        includeMessagesInResponse: true,
      }),
    answer: { body: { batchId: 'b', acceptedCount: 1, rejectedCount: 0, messages: null } },
    line: 'POST /api/v1/subaccounts/acme_hq/messages/batch',
    headers: { ...JSON_BODY, ...BEARER },
    body: '{"messages":[{"destination":"+6591234567","clientMessageId":"m-1"}],"template":{"source":"ACME","text":"Grüße 👋","encoding":"AUTO"},"clientBatchId":"b-1","includeMessagesInResponse":true}',
  },
  {
    name: 'contacts.createContact',
    call: ({ contacts }) =>
      contacts.createContact({ firstName: 'Zoë', groups: [{ id: 1042 }], addresses: { msisdn: '+6591234567' } }),
    answer: { status: 201, headers: { location: '/accounts/acme/contacts/7' } },
    line: 'POST /accounts/acme/contacts',
    headers: { ...JSON_BODY, ...BEARER },
    body: '{"firstName":"Zoë","groups":[{"id":1042}],"addresses":{"msisdn":"+6591234567"}}',
  },
  {
    name: 'verification.createSession',
    call: ({ verification }) =>
      verification.createSession({
        destination: '9123 4567',
        country: 'SG',
        brand: 'ACME',
        template: '{brand}: {code}',
        codeLength: 6,
        codeValidity: 300,
        resendingInterval: 30,
        resetSession: true,
        sms: { source: 'ACME' },
      }),
    answer: { body: { sessionID: 's-1', status: 'WAITING' } },
    line: 'POST /api/v2/subaccounts/acme_hq/sessions',
    headers: { ...JSON_BODY, ...BEARER },
    body: '{"destination":"9123 4567","country":"SG","brand":"ACME","template":"{brand}: {code}","codeLength":6,"codeValidity":300,"resendingInterval":30,"resetSession":true,"sms":{"source":"ACME"}}',
  },
  {
    name: 'verification.readSession',
    call: ({ verification }) => verification.readSession({ sessionId: 's-1' }),
    answer: { body: SESSION },
    line: 'GET /api/v2/subaccounts/acme_hq/sessions/s-1',
    headers: { ...JSON_ANSWER, ...BEARER },
    body: '',
  },
  {
    name: 'verification.checkCode',
    call: ({ verification }) => verification.checkCode({ sessionId: 's-1', code: '0042' }),
    answer: { body: SESSION },
    line: 'GET /api/v2/subaccounts/acme_hq/sessions/s-1?code=0042',
    headers: { ...JSON_ANSWER, ...BEARER },
    body: '',
  },
  {
    name: 'gateway.createWebhook',
    call: ({ gateway }) => gateway.createWebhook({ name: 'events', url: 'https://client.example/events' }),
    answer: { body: { id: '12', name: 'events' } },
    line: 'POST /chat-gateway/v1/webhooks',
    headers: { ...HAL_BODY, ...API_KEY },
    body: '{"name":"events","uri":"https://client.example/events","version":"Chat Gateway","notificationVersion":"Chat Gateway"}',
  },
  {
    name: 'gateway.createChannel',
    call: ({ gateway }) =>
      gateway.createChannel({ name: 'bot', description: 'from the bot', webhookId: '12', queue: '101' }),
    answer: { body: { id: '25', name: 'bot' } },
    line: 'POST /chat-gateway/v1/channels',
    headers: { ...HAL_BODY, ...API_KEY },
    body: '{"name":"bot","description":"from the bot","type":"ChatAPI","webHookId":"12","routingOptions":{"type":"queue","id":"101"}}',
  },
  {
    name: 'gateway.createConversation',
    call: ({ gateway }) =>
      gateway.createConversation({
        channelId: '25',
        assignment: { type: 'queue', id: '101' },
        user: { language: 'en', name: 'Zoë', additionalProperties: [{ key: 'plan', value: 'gold' }] },
        history: { messages: [{ authorType: 'bot', text: 'Hello' }] },
      }),
    answer: { status: 202, body: { conversationId: 'c-1' } },
    line: `POST ${CONVERSATION}`,
    headers: { ...HAL_BODY, ...API_KEY },
    body: '{"channelId":"25","assignment":{"type":"queue","id":"101"},"user":{"language":"en","name":"Zoë","additionalProperties":[{"key":"plan","value":"gold"}]},"history":{"messages":[{"authorType":"bot","text":"Hello"}]}}',
  },
  {
    name: 'gateway.updateConversation',
    call: ({ gateway }) =>
      gateway.updateConversation({
        conversationId: 'c-1',
        assignment: { type: 'queue', id: '102' },
        user: { name: 'Zoë' },
      }),
    answer: { status: 202 },
    line: `PATCH ${CONVERSATION}/c-1`,
    headers: { ...HAL_BODY, ...API_KEY },
    body: '{"assignment":{"type":"queue","id":"102"},"user":{"name":"Zoë"}}',
  },
  {
    name: 'gateway.sendMessage',
    call: ({ gateway }) => gateway.sendMessage({ conversationId: 'c-1', text: 'Grüße 👋' }),
    answer: { status: 202 },
    line: `POST ${CONVERSATION}/c-1/messages`,
    headers: { ...HAL_BODY, ...API_KEY },
    body: '{"authorType":"user","text":"Grüße 👋"}',
  },
  {
    name: 'campaign.readCampaign',
    call: ({ campaign }) => campaign.readCampaign({ campaignId: 101 }),
    answer: { body: CAMPAIGN },
    line: 'GET /api/stats/campaigns/101.json',
    headers: { ...JSON_ANSWER, ...DATA },
    body: '',
  },
  {
    name: 'campaign.changeCampaign',
    call: ({ campaign }) => campaign.changeCampaign({ campaignId: 101, target: 'PAUSED' }),
    answer: { body: { message: 'Campaign status changed.' } },
    line: 'POST /api/tstats/campaigns/101',
    headers: { ...JSON_BODY, ...ACTION },
    body: '{"status":"PAUSED"}',
  },
  {
    name: 'chat.readMessages',
    call: ({ chat }) => chat.readMessages({ pageSize: 5, room: 'Ops & more' }),
    answer: { body: [] },
    line: 'GET /chat/api/chat/v1/messages?pageSize=5&room=Ops%20%26%20more',
    headers: { ...JSON_ANSWER, ...API_KEY },
    body: '',
  },
  {
    name: 'chat.readMessages of the key’s own room',
    call: ({ chat }) => chat.readMessages(),
    answer: { body: [] },
    line: 'GET /chat/api/chat/v1/messages',
    headers: { ...JSON_ANSWER, ...API_KEY },
    body: '',
  },
  {
    name: 'chat.postMessage',
    call: ({ chat }) => chat.postMessage({ messageRaw: 'Grüße 👋\n', room: 'Ops' }),
    answer: { body: { parsed: 'Grüße 👋' } },
    line: 'POST /chat/api/chat/v1/messages',
    headers: { ...JSON_BODY, ...API_KEY },
    body: '{"messageRaw":"Grüße 👋\\n","room":"Ops"}',
  },
];

describe('a client', () => {
  test('has a row in the table for every function it has', () => {
    const clients = someClients(someAddresses());
    const functions = Object.entries(clients).flatMap(([area, client]) =>
      Object.keys(client).map((name) => `${area}.${name}`),
    );
    expect(new Set(ROWS.map(({ name }) => name.split(' ')[0]))).toEqual(new Set(functions));
  });

  test.each(ROWS)('$name sends exactly $line', async ({ call, answer, line, headers, body }) => {
    const request = await record(call, { answer });
    expect({ line: request.line, headers: request.headers, body: request.body }).toEqual({ line, headers, body });
    expect(request.output).toBeDefined();
  });

  test.each(ROWS)('$name goes behind the path prefix of its base', async ({ call, answer, line }) => {
    const prefixed = line.replace(' /', ' /proxy/api/v1/');
    expect((await record(call, { answer, prefix: '/proxy/api/v1' })).line).toBe(prefixed);
  });

  test.each(ROWS.filter(({ line }) => line.includes('acme_hq')))(
    '$name goes to the subaccount that the job names',
    async ({ call, answer, line }) => {
      const { line: sent } = await record(call, { answer, addresses: { subAccountId: 'Acme.SG&1' } });
      expect(sent).toBe(line.replace('acme_hq', 'Acme.SG%261'));
    },
  );

  test.each([
    ['gateway.createWebhook', 'POST /g/hooks'],
    ['gateway.createChannel', 'POST /g/channels'],
    ['gateway.createConversation', `POST ${CONVERSATION}`],
    ['gateway.updateConversation', 'PATCH /g/c-1'],
    ['gateway.sendMessage', 'POST /g/c-1/say'],
  ])('%s goes to the path that the job names: %s', async (name, line) => {
    const gatewayPaths = {
      webhooks: '/g/hooks',
      channels: '/g/channels',
      conversation: '/g/{conversationId}',
      messages: '/g/{conversationId}/say',
    };
    const { call, answer } = ROWS.find((row) => row.name === name)!;
    expect((await record(call, { answer, addresses: { gatewayPaths } })).line).toBe(line);
  });

  test('gives the answer in its typed form', async () => {
    const read = ROWS.find(({ name }) => name === 'campaign.readCampaign')!;
    expect((await record(read.call, { answer: read.answer })).output).toMatchObject({ id: 101, status: 3 });
  });
});

test('only a call that reads, or that sets the same values again, may be repeated', () => {
  const repeatable = Object.entries(ENDPOINTS).flatMap(([name, { isRepeatable }]) => (isRepeatable ? [name] : []));
  expect(repeatable.filter((name) => !name.startsWith('read'))).toEqual(['createContact', 'updateConversation']);
  expect(repeatable).toContain('readSession');
});

/** As the documentation has them. */
const HOSTS = {
  asia: ['sms.8x8.com', 'contacts.8x8.com', 'verify.8x8.com'],
  europe: ['sms.8x8.uk', 'contacts.8x8.uk', 'verify.8x8.uk'],
  indonesia: ['sms.8x8.id', 'contacts.8x8.id', 'verify.8x8.id'],
  'north-america': ['sms.us.8x8.com', 'contacts.us.8x8.com', 'verify.us.8x8.com'],
};

test.each(REGIONS)('in region %s, sms, contacts and verification have its hosts', (region) => {
  const service = someAddresses({ bases: { ...someAddresses().bases, ...basesByRegion[region] } });
  const requests = [
    sendBatch.request(service, { messages: [] }),
    createContact.request(service, { addresses: {} }),
    createSession.request(service, { destination: '+6591234567' }),
  ];
  expect(requests.map(({ base }) => base)).toEqual(HOSTS[region].map((host) => `https://${host}`));
});
