import { expect, test } from 'vitest';
import { changeCampaign, readCampaign } from '../sandbox/campaign/campaign-client.js';
import { post, read } from '../sandbox/chat/chat-client.js';
import { look, openChannel, openConversation, settle } from '../sandbox/gateway/gateway-client.js';
import { type Answered, aBatch, aClient, aClock, aContact, type Client, NOON } from '../sandbox/sandbox-client.js';
import { createSession, inspectSession, readSession } from '../sandbox/verification/verification-client.js';
import { aReceiver, type Behaviour, type Received } from '../sandbox/webhook/receiver.js';
import { expectAccepted } from './contract-fields.js';
import { agentJoins, agentTypes, agentWrites, customerWrites } from './gateway-tables.js';

test('Events: QUEUED, AGENT_JOINED, ACTIVITY and MESSAGE come in order, with these fields and no others', async () => {
  const received = await aConversationToldWhole();
  const conversationId = received[0]?.body.conversationId;
  const head = (eventType: string) => ({ eventType, conversationId, timestamp: NOON });
  expect(conversationId).toEqual(expect.any(String));
  expect(received.map(({ body }) => body)).toEqual([
    { ...head('QUEUED'), data: { queueId: '101', queueName: 'Support' } },
    { ...head('AGENT_JOINED'), messageType: 'SYSTEM', agentId: 'a7', agentName: 'Kim' },
    { ...head('ACTIVITY'), data: { name: 'typing', value: { users: [{ type: 'agent', id: 'a7' }] } } },
    { ...head('MESSAGE'), data: { isEcho: false, text: 'How can I help?', sender: { id: 'a7', type: 'agent' } } },
    { ...head('MESSAGE'), data: { isEcho: true, text: 'Hello', sender: { id: 'user', type: 'user' } } },
  ]);
});

test('Events: each names the conversation that it is about', async () => {
  const { client, receiver, channelId } = await aTold();
  const ids = [await openConversation(client, { channelId }), await openConversation(client, { channelId })];
  await agentJoins(client, ids[1] ?? '');
  await settle(client);
  const told = receiver.received.map(({ body }) => `${body.eventType} ${body.conversationId}`);
  expect(told.toSorted()).toEqual([`AGENT_JOINED ${ids[1]}`, ...ids.map((id) => `QUEUED ${id}`)].toSorted());
});

test('Events: they are POSTed as JSON to the address of the webhook, path and query included', async () => {
  const { client, receiver, channelId } = await aTold('/bot/events?tenant=acme');
  await openConversation(client, { channelId });
  await settle(client);
  expect(receiver.received).toMatchObject([
    { path: '/bot/events?tenant=acme', headers: { 'content-type': expect.stringMatching(/^application\/json\b/) } },
  ]);
});

test('Events: those of two channels go to the webhook of each', async () => {
  const { client, receiver, channelId } = await aTold();
  const other = await aReceiver();
  const otherChannelId = await openChannel(client, other.url());
  const ids = [
    await openConversation(client, { channelId }),
    await openConversation(client, { channelId: otherChannelId }),
  ];
  await settle(client);
  expect([receiver, other].map(({ received }) => received.map(({ body }) => body.conversationId))).toEqual(
    ids.map((id) => [id]),
  );
});

/** What the operations of the other areas are, by the contract's words. */
const SILENT: readonly [string, (client: Client) => Promise<Answered>][] = [
  ['Verification: a session that is created', (client) => createSession(client)],
  ['Verification: a session that is checked', checkSession],
  ['SMS batch: a batch that is sent', (client) => client.sendBatch(aBatch())],
  ['Contacts: a contact that is created', (client) => client.createContact(aContact())],
  ['Campaign: a status that is read', (client) => readCampaign(client, 101)],
  ['Campaign: a status that is changed', (client) => changeCampaign(client, 101, 'PAUSED')],
  ['Workplace chat: messages that are read', (client) => read(client)],
  ['Workplace chat: a message that is posted', (client) => post(client, { messageRaw: 'Hi' })],
];

test.each(SILENT)('Events, %s has none', async (_, call) => {
  const { client, receiver } = await aTold();
  expectAccepted(await call(client));
  expect(await settle(client)).toMatchObject({ delivered: 1, failedAttempts: 0 });
  expect(receiver.checks).toHaveLength(1);
  expect(receiver.received).toEqual([]);
});

test.each([200, 201, 202, 204, 299])(
  'Open point, Events: one that is answered %i is delivered once',
  async (status) => {
    expect(await deliveries(status)).toEqual(['0']);
  },
);

test.each([301, 304, 400, 404, 410, 429, 500, 503, 'reset'] as const)(
  'Open point, Events: one that is answered %s is delivered again',
  async (behaviour) => {
    expect(await deliveries(behaviour, 200)).toEqual(['0', '1']);
  },
);

test('Open point, Events: x-8x8-event-id stays over deliveries, x-8x8-retry counts them, the body is the same', async () => {
  const received = await deliver([500, 503, 200]);
  expect(received.map(({ headers }) => headers['x-8x8-retry'])).toEqual(['0', '1', '2']);
  expect(new Set(received.map(({ headers }) => headers['x-8x8-event-id'])).size).toBe(1);
  expect(received.map(({ body }) => body)).toEqual(Array(3).fill(received[0]?.body));
});

test('Open point, Events: each event has an id of its own in x-8x8-event-id', async () => {
  const ids = (await aConversationToldWhole()).map(({ headers }) => headers['x-8x8-event-id']);
  for (const id of ids) expect(id).toMatch(/./);
  expect(new Set(ids).size).toBe(5);
});

/** An application that listens, and a channel that tells it. */
async function aTold(path?: string, behave?: (received: Received, place: number) => Behaviour) {
  const receiver = await aReceiver(behave);
  const client = await aClient({ clock: aClock() });
  return { client, receiver, channelId: await openChannel(client, receiver.url(path)) };
}

/** What the application received of one conversation with every event of the contract. */
async function aConversationToldWhole(): Promise<Received[]> {
  const { client, receiver, channelId } = await aTold();
  const id = await openConversation(client, { channelId });
  for (const act of [agentJoins, agentTypes, agentWrites, customerWrites]) expectAccepted(await act(client, id));
  await settle(client);
  expect((await look(client, `conversations/${id}`)).body.state).toBe('with agent');
  return receiver.received;
}

/** What the application received of one event to which it answered so, and from then on 200. */
async function deliver(behaviours: readonly Behaviour[]): Promise<Received[]> {
  const { client, receiver, channelId } = await aTold('/hook', (_, place) => behaviours[place] ?? 200);
  await openConversation(client, { channelId });
  await settle(client);
  return receiver.received;
}

async function deliveries(...behaviours: readonly Behaviour[]): Promise<unknown[]> {
  return (await deliver(behaviours)).map(({ headers }) => headers['x-8x8-retry']);
}

async function checkSession(client: Client): Promise<Answered> {
  const { sessionID } = (await createSession(client)).body;
  const { code } = await inspectSession(client, sessionID);
  return readSession(client, sessionID, code);
}
