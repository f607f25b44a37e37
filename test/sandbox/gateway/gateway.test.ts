import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { aClient, aClock, at } from '../sandbox-client.js';
import { aReceiver } from '../webhook/receiver.js';
import {
  aChannel,
  aConversation,
  ask,
  aWebhook,
  entries,
  look,
  openChannel,
  openConversation,
  play,
  settle,
  update,
  VERSION,
  write,
} from './gateway-client.js';

const WEBHOOKS = { path: '/chat-gateway/v1/webhooks' };
const CHANNELS = { path: '/chat-gateway/v1/channels' };
const URI = 'https://bot.example/events';

test('§Webhook: webhook is created: 200, its id and what was given', async () => {
  const client = await aClient({ clock: aClock() });
  const { status, headers, body } = await ask(client, aWebhook(URI), WEBHOOKS);
  expect([status, headers['content-type']]).toEqual([200, 'application/hal+json']);
  expect(body).toEqual({ id: expect.any(String), name: 'events', uri: URI, version: VERSION });
  expect(await entries(client)).toEqual([
    {
      seq: 1,
      at: at(0),
      area: 'gateway',
      request: 1,
      kind: 'webhook',
      webhookId: body.id,
      name: 'events',
      uri: URI,
      version: VERSION,
    },
  ]);
});

test('§Channel: channel is created with a webhook that is there and a default queue: 200, its id and what was given', async () => {
  const client = await aClient({ clock: aClock() });
  const webhook = await ask(client, aWebhook(URI), WEBHOOKS);
  const given = aChannel(webhook.body.id, { description: 'The bot of the shop' });
  const { status, body } = await ask(client, given, CHANNELS);
  expect(status).toBe(200);
  expect(body).toEqual({ id: expect.any(String), ...given });
  expect((await entries(client))[1]).toEqual({
    seq: 2,
    at: at(0),
    area: 'gateway',
    request: 2,
    kind: 'channel',
    channelId: body.id,
    name: 'bot',
    description: 'The bot of the shop',
    queueId: '100',
    webhookId: webhook.body.id,
  });
});

test('§Channel: webhooks and channels have ids of their own, and no webhook has the id of a channel', async () => {
  const client = await aClient();
  const webhooks = [await ask(client, aWebhook(URI), WEBHOOKS), await ask(client, aWebhook(URI), WEBHOOKS)];
  const channels = [
    await ask(client, aChannel(webhooks[0]?.body.id), CHANNELS),
    await ask(client, aChannel(webhooks[1]?.body.id), CHANNELS),
  ];
  const ids = [...webhooks, ...channels].map(({ body }) => body.id);
  expect(new Set(ids).size).toBe(4);
  expect((await ask(client, aChannel(ids[2]), CHANNELS)).status).toBe(400);
  expect((await ask(client, aConversation({ channelId: ids[0] }))).status).toBe(400);
});

test.each([
  ['version alone', { version: 'Chat Gateway' }],
  ['notificationVersion alone', { version: undefined, notificationVersion: 'Chat Gateway' }],
  ['both', { version: 'Chat Gateway', notificationVersion: 'Chat Gateway' }],
])('§Webhook: webhook is made with %s', async (_, more) => {
  const client = await aClient();
  const { status, body } = await ask(client, aWebhook(URI, more), WEBHOOKS);
  expect([status, body.version]).toEqual([200, 'Chat Gateway']);
});

const message = (number: number) => ({ authorType: number % 2 === 0 ? 'bot' : 'user', text: `message ${number}` });
const property = (number: number) => ({ key: `key${number}`, value: `value ${number}` });

test('§5 Create conversation: 202 with its id and time, and the ledger shows all that was handed over', async () => {
  const client = await aClient({ clock: aClock() });
  const given = aConversation({
    user: {
      language: 'en',
      name: 'Ann Lee',
      email: 'ann@shop.example',
      phone: '+6590000001',
      additionalProperties: [{ key: 'order', value: '4711' }],
    },
    history: {
      messages: [message(1), message(2), { authorType: 'bot', cards: [{ id: 'c1' }] }],
      somethingElse: true,
    },
  });
  const { status, headers, body } = await ask(client, given);
  expect([status, headers['content-type']]).toEqual([202, 'application/hal+json']);
  expect(body).toEqual({ conversationId: expect.any(String), createdAt: at(0) });
  expect(await entries(client)).toEqual([
    {
      seq: 1,
      at: at(0),
      area: 'gateway',
      request: 1,
      kind: 'conversation',
      conversationId: body.conversationId,
      body: given,
    },
  ]);
});

test('§Conversation: only channel and user are required, and the queue is then the one of the channel', async () => {
  const client = await aClient();
  const { status, body } = await ask(client, { channelId: 'sandbox-channel', user: {} });
  expect(status).toBe(202);
  const conversation = (await look(client, `conversations/${body.conversationId}`)).body;
  expect(conversation).toMatchObject({ state: 'queued', queueId: '100', historyMessages: 0, agent: null });
});

const user = (fields: unknown) => ({ user: fields });
const history = (...given: unknown[]) => ({ history: { messages: given } });

test('§5 Create conversation: a refusal names the place in a list', async () => {
  const client = await aClient();
  const bad = user({ additionalProperties: [property(1), { key: 'a' }] });
  expect((await ask(client, aConversation(bad))).body.message).toBe(
    'user.additionalProperties[1] must have both a key and a value',
  );
  expect((await ask(client, aConversation(history(message(1), { authorType: 'x' })))).body.message).toMatch(
    /^history\.messages\[1\]: Invalid authorType=x/,
  );
});

test('§Send a message: 202 without a body, while it is queued and with an agent, and the ledger shows it', async () => {
  const client = await aClient();
  const id = await openConversation(client);
  const first = await write(client, id, { authorType: 'user', text: 'Are you there?' });
  expect([first.status, first.text]).toEqual([202, '']);
  await play(client, id, 'join');
  expect((await write(client, id, { authorType: 'user', text: 'Good' })).status).toBe(202);
  expect((await entries(client)).filter(({ kind }) => kind === 'message')).toMatchObject([
    { request: 2, conversationId: id, body: { authorType: 'user', text: 'Are you there?' } },
    { request: 3, conversationId: id, body: { authorType: 'user', text: 'Good' } },
  ]);
});

const ANN = { name: 'Ann Lee', phone: '+6590000001' };

test.each(['PUT', 'PATCH'] as const)(
  '§Update conversation: %s changes the queue of a queued conversation: 202 with the conversation',
  async (method) => {
    const client = await aClient();
    const id = await openConversation(client);
    const given = { assignment: { type: 'queue', id: '102' } };
    const { status, body } = await update(client, id, given, method);
    expect(status).toBe(202);
    expect(body).toEqual({ id, channelId: 'sandbox-channel', ...given, user: ANN, state: 'active' });
    expect((await look(client, `conversations/${id}`)).body).toMatchObject({ state: 'queued', queueId: '102' });
    expect((await entries(client))[1]).toMatchObject({
      request: 2,
      kind: 'update',
      conversationId: id,
      method,
      body: given,
    });
  },
);

test('§Update conversation: PUT puts the user in the place of the old one, PATCH changes the fields that it names', async () => {
  const client = await aClient();
  const id = await openConversation(client);
  const patched = await update(client, id, { user: { email: 'ann@shop.example' } }, 'PATCH');
  expect(patched.body.user).toEqual({ ...ANN, email: 'ann@shop.example' });
  const put = await update(client, id, { channelId: 'sandbox-channel', user: { name: 'Anna' } });
  expect(put.body.user).toEqual({ name: 'Anna' });
  expect(put.body.assignment).toEqual({ type: 'queue', id: '101' });
});

test('sandbox with a data directory resumes after a restart with its channels and conversations, and repeats no event', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'volley-sandbox-'));
  onTestFinished(() => rm(dataDirectory, { recursive: true }));
  const receiver = await aReceiver();
  const first = await aClient({ dataDirectory });
  const channelId = await openChannel(first, receiver.url());
  const ids = [await openConversation(first, { channelId }), await openConversation(first, { channelId })];
  const [queued = '', joined = ''] = ids;
  await update(first, queued, { user: { name: 'Anna' }, assignment: { type: 'queue', id: '102' } }, 'PATCH');
  await play(first, joined, 'join', { agentId: 'a7' });
  await play(first, joined, 'message', { text: 'Hi' });
  await write(first, joined, { authorType: 'user', text: 'Hello' });
  const before = (await look(first, `conversations/${queued}`)).body;
  const beforeJoined = (await look(first, `conversations/${joined}`)).body;
  await settle(first);
  const told = receiver.received.length;
  await first.close();

  const second = await aClient({ dataDirectory });
  expect((await look(second, `conversations/${queued}`)).body).toEqual(before);
  expect((await look(second, `conversations/${joined}`)).body).toEqual(beforeJoined);
  expect(before).toMatchObject({ queueId: '102', user: { name: 'Anna', phone: '+6590000001' } });
  await play(second, queued, 'join');
  expect((await update(second, joined, { user: {} })).status).toBe(409);
  const other = await ask(second, aChannel('1001'), { path: '/chat-gateway/v1/channels' });
  expect(other.status).toBe(200);
  expect(other.body.id).not.toBe(channelId);
  await settle(second);
  expect(receiver.received.slice(told).map(({ body }) => [body.eventType, body.conversationId])).toEqual([
    ['AGENT_JOINED', queued],
  ]);
});
