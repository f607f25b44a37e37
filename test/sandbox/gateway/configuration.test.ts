import { expect, test } from 'vitest';
import { aClient, aClock, at } from '../sandbox-client.js';
import { aChannel, aConversation, ask, aWebhook, entries, VERSION } from './gateway-client.js';

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

test.each([
  ['no name', { name: undefined }],
  ['an empty name', { name: '' }],
  ['a name of 257', { name: 'n'.repeat(257) }],
  ['no uri', { uri: undefined }],
  ['a uri that is no address', { uri: 'bot.example/events' }],
  ['a uri of another protocol', { uri: 'ftp://bot.example/events' }],
  ['no version', { version: undefined }],
  ['another version', { version: 'v2.0' }],
  ['another notificationVersion', { notificationVersion: 'v2.0' }],
  ['another notificationVersion alone', { version: undefined, notificationVersion: 'v2.0' }],
])('§Webhook: webhook is refused with 400 for %s', async (_, more) => {
  const client = await aClient();
  const { status, headers, body } = await ask(client, aWebhook(URI, more), WEBHOOKS);
  expect([status, headers['content-type']]).toEqual([400, 'application/problem+json']);
  expect(body).toEqual({
    message: expect.any(String),
    errors: [{ code: 'invalid_parameter', message: body.message }],
    referenceId: expect.any(String),
  });
  expect(await entries(client)).toEqual([]);
});

test.each([
  ['no name', { name: undefined }, 'invalid_parameter'],
  ['a name of 256', { name: 'n'.repeat(256) }, 'invalid_parameter'],
  ['a description that is no text', { description: 5 }, 'invalid_parameter'],
  ['no queue', { routingOptions: undefined }, 'invalid_parameter'],
  ['a script for a queue', { routingOptions: { type: 'script', id: '100' } }, 'invalid_parameter'],
  ['a queue without an id', { routingOptions: { type: 'queue' } }, 'invalid_parameter'],
  ['a queue that is not there', { routingOptions: { type: 'queue', id: '112' } }, 'invalid_queue'],
  ['no webhook', { webHookId: undefined }, 'invalid_parameter'],
  ['a webhook that is not there', { webHookId: '9999' }, 'invalid_webhook'],
  ['another type', { type: 'WhatsApp' }, 'invalid_parameter'],
])('§Channel: channel is refused with 400 for %s', async (_, more, code) => {
  const client = await aClient();
  const webhook = await ask(client, aWebhook(URI), WEBHOOKS);
  const { status, body } = await ask(client, aChannel(webhook.body.id, more), CHANNELS);
  expect([status, body.errors[0].code]).toEqual([400, code]);
  expect(await entries(client)).toHaveLength(1);
});
