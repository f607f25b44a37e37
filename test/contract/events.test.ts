import { expect, test } from 'vitest';
import { changeCampaign, post, read, readCampaign } from '../sandbox/campaign-and-chat.js';
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

/** The operations of the other areas. */
const SILENT: readonly ((client: Client) => Promise<Answered>)[] = [
  (client) => createSession(client),
  checkSession,
  (client) => client.sendBatch(aBatch()),
  (client) => client.createContact(aContact()),
  (client) => readCampaign(client, 101),
  (client) => changeCampaign(client, 101, 'PAUSED'),
  (client) => read(client),
  (client) => post(client, { messageRaw: 'Hi' }),
];

test('Events: calls of the other areas have none', async () => {
  const { client, receiver } = await aTold();
  for (const call of SILENT) expectAccepted(await call(client));
  expect(await settle(client)).toMatchObject({ delivered: 1, failedAttempts: 0 });
  expect(receiver.checks).toHaveLength(1);
  expect(receiver.received).toEqual([]);
});

// What is not 2xx, and so repeated, is in sender.test.ts.
test('Open point, Events: one that is answered 2xx is delivered once', async () => {
  for (const status of [200, 201, 202, 204, 299]) expect(await deliver([status])).toHaveLength(1);
});

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

async function checkSession(client: Client): Promise<Answered> {
  const { sessionID } = (await createSession(client, { destination: '+6590000002' })).body;
  const { code } = await inspectSession(client, sessionID);
  return readSession(client, sessionID, code);
}
