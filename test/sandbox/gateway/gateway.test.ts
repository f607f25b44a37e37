import { expect, test } from 'vitest';
import { aClient } from '../sandbox-client.js';
import { aChannel, aConversation, ask, aWebhook, openConversation, update } from './gateway-client.js';

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

const message = (number: number) => ({ authorType: number % 2 === 0 ? 'bot' : 'user', text: `message ${number}` });
const property = (number: number) => ({ key: `key${number}`, value: `value ${number}` });

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
