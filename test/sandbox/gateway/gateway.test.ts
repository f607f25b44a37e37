import { expect, test } from 'vitest';
import { aClient, aClock, at } from '../sandbox-client.js';
import { aReceiver, DEAF_URL } from '../webhook/receiver.js';
import {
  aChannel,
  aConversation,
  ask,
  aWebhook,
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

test('§5 Create conversation: a refusal names the place in a list', async () => {
  const client = await aClient();
  const property = { key: 'a', value: 'b' };
  const user = { additionalProperties: [property, { key: 'a' }] };
  expect((await ask(client, aConversation({ user }))).body.message).toMatch(/^user\.additionalProperties\.1\.value: /);
  const history = { messages: [{ authorType: 'user', text: 'Hi' }, { authorType: 'x' }] };
  expect((await ask(client, aConversation({ history }))).body.message).toMatch(/^history\.messages\.1\.authorType: /);
});

const ANN = { name: 'Ann Lee', phone: '+6590000001' };

test('§Update conversation: PUT puts the user in the place of the old one, PATCH changes the fields that it names', async () => {
  const client = await aClient();
  const id = await openConversation(client);
  const patched = await update(client, id, { user: { email: 'ann@shop.example' } }, 'PATCH');
  expect(patched.body.user).toEqual({ ...ANN, email: 'ann@shop.example' });
  const put = await update(client, id, { channelId: 'sandbox-channel', user: { name: 'Anna' } });
  expect(put.body.user).toEqual({ name: 'Anna' });
  expect(put.body.assignment).toEqual({ type: 'queue', id: '101' });
});

test('GET /_sandbox/conversations/{id} shows what was said since the hand-off; without an id all are listed with their states', async () => {
  const client = await aClient({ clock: aClock() });
  const id = await openConversation(client);
  await write(client, id, { authorType: 'user', text: 'Hello?' });
  await play(client, id, 'join');
  await play(client, id, 'type');
  const { body } = await play(client, id, 'message', { text: 'Hi' });
  expect(body).toEqual({
    conversationId: id,
    channelId: 'sandbox-channel',
    createdAt: at(0),
    state: 'with agent',
    queueId: '101',
    user: { name: 'Ann Lee', phone: '+6590000001' },
    historyMessages: 1,
    agent: { id: expect.any(String), name: expect.any(String) },
    messages: [
      { authorType: 'user', text: 'Hello?', at: at(0) },
      { authorType: 'agent', text: 'Hi', at: at(0) },
    ],
  });
  expect((await look(client, `conversations/${id}`)).body).toEqual(body);
  const other = { conversationId: await openConversation(client), state: 'queued', queueId: '101', messages: [] };
  expect((await look(client, 'conversations')).body).toMatchObject([body, other]);
});

test.each([
  ['a second agent', 'join', undefined, true, 409],
  ['typing before an agent is there', 'type', undefined, false, 409],
  ['writing before an agent is there', 'message', { text: 'Hi' }, false, 409],
  ['writing nothing', 'message', {}, true, 400],
  ['an agent whose id is no text', 'join', { agentId: 7 }, false, 400],
] as const)('an agent is refused: %s', async (_, action, body, isJoined, status) => {
  const client = await aClient();
  const id = await openConversation(client);
  if (isJoined) await play(client, id, 'join');
  expect((await play(client, id, action, body)).status).toBe(status);
  expect(await client.entries('gateway')).toHaveLength(isJoined ? 2 : 1);
});

test('of two agents who join at once one is refused', async () => {
  const client = await aClient();
  const id = await openConversation(client);
  const answers = await Promise.all([play(client, id, 'join'), play(client, id, 'join')]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
});

test('an agent can do nothing where there is no conversation', async () => {
  const client = await aClient();
  for (const action of ['join', 'type', 'message'] as const) {
    expect((await play(client, 'nowhere', action, { text: 'Hi' })).status).toBe(404);
  }
  expect((await look(client, 'conversations/nowhere')).status).toBe(404);
});

test('§Events: an event is repeated until it is answered 2xx, and never given up', async () => {
  const receiver = await aReceiver((_, place) => (place < 40 ? 500 : 200));
  const clock = aClock();
  const client = await aClient({ clock });
  await openConversation(client, { channelId: await openChannel(client, receiver.url()) });
  expect(await settle(client)).toEqual({ pending: 0, delivered: 2, givenUp: 0, failedAttempts: 40, outside: 0 });
  expect(clock.slept).toHaveLength(40);
  expect(clock.slept.slice(0, 5)).toEqual([1000, 2000, 5000, 10_000, 10_000]);
});

test('Open point, Events: who makes a webhook is asked there once whether someone listens, by WEB_HOOK_VERIFY', async () => {
  const receiver = await aReceiver();
  const client = await aClient({ clock: aClock() });
  await openChannel(client, receiver.url());
  expect(await settle(client)).toMatchObject({ delivered: 1, failedAttempts: 0 });
  expect(receiver.checks).toMatchObject([
    { path: '/hook', headers: { 'x-8x8-event-id': expect.stringMatching(/./), 'x-8x8-retry': '0' } },
  ]);
  expect(receiver.checks[0]?.body).toEqual({ notificationVersion: VERSION, eventType: 'WEB_HOOK_VERIFY' });
});

test('Open point, Events: a webhook at which no one listens is made all the same, and asked no second time', async () => {
  const client = await aClient({ clock: aClock() });
  expect(await openChannel(client, DEAF_URL)).toEqual(expect.any(String));
  expect(await settle(client)).toMatchObject({ delivered: 0, givenUp: 1, failedAttempts: 1 });
});
