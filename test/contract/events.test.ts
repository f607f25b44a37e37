import { expect, test } from 'vitest';
import { changeCampaign, readCampaign } from '../sandbox/campaign/campaign-client.js';
import { post, read } from '../sandbox/chat/chat-client.js';
import { look, openChannel, openConversation, settle } from '../sandbox/gateway/gateway-client.js';
import { type Answered, aBatch, aClient, aClock, aContact, type Client, NOON } from '../sandbox/sandbox-client.js';
import { createSession, inspectSession, readSession } from '../sandbox/verification/verification-client.js';
import { aReceiver, type Behaviour, type Received } from '../sandbox/webhook/receiver.js';
import { expectAccepted, expectType, type FieldType, readField } from './contract-fields.js';
import { agentJoins, agentTypes, agentWrites, customerWrites } from './gateway-tables.js';

/** Which event, by its place in a conversation that has all of them. */
const PLACES = {
  QUEUED: 0,
  AGENT_JOINED: 1,
  ACTIVITY: 2,
  'MESSAGE of the agent': 3,
  'MESSAGE of the customer': 4,
} as const;

type EventName = keyof typeof PLACES;

const EVENT_NAMES = Object.keys(PLACES) as EventName[];

/** Event, field and type, beside the three that all events have. */
const FIELDS: readonly (readonly [EventName, string, FieldType])[] = [
  ['QUEUED', 'data', 'an object'],
  ['QUEUED', 'data.queueId', 'a string'],
  ['QUEUED', 'data.queueName', 'a string'],
  ['AGENT_JOINED', 'messageType', 'a string'],
  ['AGENT_JOINED', 'agentId', 'a string'],
  ['AGENT_JOINED', 'agentName', 'a string'],
  ['ACTIVITY', 'data', 'an object'],
  ['ACTIVITY', 'data.name', 'a string'],
  ['ACTIVITY', 'data.value', 'an object'],
  ['ACTIVITY', 'data.value.users', 'an array'],
  ['ACTIVITY', 'data.value.users.0', 'an object'],
  ['ACTIVITY', 'data.value.users.0.type', 'a string'],
  ['ACTIVITY', 'data.value.users.0.id', 'a string'],
  ['MESSAGE of the agent', 'data', 'an object'],
  ['MESSAGE of the agent', 'data.isEcho', 'a boolean'],
  ['MESSAGE of the agent', 'data.sender', 'an object'],
  ['MESSAGE of the agent', 'data.sender.id', 'a string'],
  ['MESSAGE of the agent', 'data.sender.type', 'a string'],
  ['MESSAGE of the customer', 'data', 'an object'],
  ['MESSAGE of the customer', 'data.isEcho', 'a boolean'],
  ['MESSAGE of the customer', 'data.sender', 'an object'],
  ['MESSAGE of the customer', 'data.sender.id', 'a string'],
  ['MESSAGE of the customer', 'data.sender.type', 'a string'],
];

/** What the fields say in a conversation with Kim, whose id is a7, in the queue 101, Support. */
const VALUES = [
  ['QUEUED', 'eventType', 'QUEUED'],
  ['QUEUED', 'data.queueId', '101'],
  ['QUEUED', 'data.queueName', 'Support'],
  ['AGENT_JOINED', 'eventType', 'AGENT_JOINED'],
  ['AGENT_JOINED', 'messageType', 'SYSTEM'],
  ['AGENT_JOINED', 'agentId', 'a7'],
  ['AGENT_JOINED', 'agentName', 'Kim'],
  ['ACTIVITY', 'eventType', 'ACTIVITY'],
  ['ACTIVITY', 'data.name', 'typing'],
  ['ACTIVITY', 'data.value.users.0.type', 'agent'],
  ['ACTIVITY', 'data.value.users.0.id', 'a7'],
  ['MESSAGE of the agent', 'eventType', 'MESSAGE'],
  ['MESSAGE of the agent', 'data.sender.id', 'a7'],
  ['MESSAGE of the customer', 'eventType', 'MESSAGE'],
] as const;

test.each(FIELDS)('Events: %s has %s, which is %s', async (event, field, type) => {
  const { body } = (await aConversationToldWhole())[PLACES[event]] as Received;
  expectType(readField(body, field), type);
});

test.each(VALUES)('Events: %s has %s "%s"', async (event, field, value) => {
  const { body } = (await aConversationToldWhole())[PLACES[event]] as Received;
  expect(readField(body, field)).toBe(value);
});

test.each(EVENT_NAMES)('Events: %s has conversationId, a string, and timestamp, a number', async (event) => {
  const { body } = (await aConversationToldWhole())[PLACES[event]] as Received;
  expectType(body.conversationId, 'a string');
  expectType(body.timestamp, 'a number');
});

test.each([
  ['QUEUED', ['data', 'data.queueId', 'data.queueName']],
  ['AGENT_JOINED', ['messageType', 'agentId', 'agentName']],
  ['ACTIVITY', ['data', 'data.name', 'data.value']],
  ['MESSAGE of the agent', ['data', 'data.isEcho', 'data.text', 'data.sender']],
  ['MESSAGE of the customer', ['data', 'data.isEcho', 'data.text', 'data.sender']],
] as const)('Events: %s has no fields but the common three and %j', async (event, fields) => {
  const { body } = (await aConversationToldWhole())[PLACES[event]] as Received;
  const inData = Object.keys(body.data ?? {}).map((field) => `data.${field}`);
  const common = ['eventType', 'conversationId', 'timestamp'];
  expect([...Object.keys(body), ...inData].toSorted()).toEqual([...common, ...fields].toSorted());
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
  expect(new Set(ids).size).toBe(EVENT_NAMES.length);
});

test.each(EVENT_NAMES)('Open point, Events: timestamp of %s is in milliseconds', async (event) => {
  expect((await aConversationToldWhole())[PLACES[event]]?.body.timestamp).toBe(NOON);
});

test.each([
  ['MESSAGE of the agent', 'How can I help?'],
  ['MESSAGE of the customer', 'Hello'],
] as const)('Open point, Events: %s carries its content in data.text: %s', async (event, text) => {
  expect((await aConversationToldWhole())[PLACES[event]]?.body.data.text).toBe(text);
});

/** An application that listens, and a channel that tells it. */
async function aTold(path?: string, behave?: (received: Received, place: number) => Behaviour) {
  const receiver = await aReceiver(behave);
  const client = await aClient({ clock: aClock() });
  return { client, receiver, channelId: await openChannel(client, receiver.url(path)) };
}

/** What the application received of one conversation with every event of the contract, in the order of `PLACES`. */
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
