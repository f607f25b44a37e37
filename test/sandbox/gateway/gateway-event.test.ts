import { expect, test } from 'vitest';
import { aClient, aClock } from '../sandbox-client.js';
import { aDeafUrl, aReceiver, type Received } from '../webhook/receiver.js';
import { look, openChannel, openConversation, play, settle, update, VERSION } from './gateway-client.js';

const types = (received: readonly Received[]) => received.map(({ body }) => body.eventType);

test('§Events: an event is repeated until it is answered 2xx, and never given up', async () => {
  const receiver = await aReceiver((_, place) => (place < 40 ? 500 : 200));
  const clock = aClock();
  const client = await aClient({ clock });
  await openConversation(client, { channelId: await openChannel(client, receiver.url()) });
  expect(await settle(client)).toEqual({ pending: 0, delivered: 2, givenUp: 0, failedAttempts: 40, outside: 0 });
  expect(clock.slept).toHaveLength(40);
  expect(clock.slept.slice(0, 5)).toEqual([1000, 2000, 5000, 10_000, 10_000]);
});

test('§Events: conversations do not wait for each other, and each keeps its order', async () => {
  const receiver = await aReceiver((_, place) => (place % 3 === 0 ? 500 : 200));
  const client = await aClient({ clock: aClock() });
  const channelId = await openChannel(client, receiver.url());
  const ids = await Promise.all(Array.from({ length: 25 }, () => openConversation(client, { channelId })));
  await Promise.all(
    ids.map(async (id) => {
      await play(client, id, 'join');
      await play(client, id, 'message', { text: 'Hi' });
    }),
  );
  await settle(client);
  for (const id of ids) {
    const own = receiver.received.filter(({ body }) => body.conversationId === id);
    const once = new Map(own.map(({ headers, body }) => [headers['x-8x8-event-id'], body.eventType]));
    expect([...once.values()]).toEqual(['QUEUED', 'AGENT_JOINED', 'MESSAGE']);
  }
});

test('§Events: an update has no event, and the sandbox channel has none at all', async () => {
  const receiver = await aReceiver();
  const client = await aClient();
  const conversationId = await openConversation(client, { channelId: await openChannel(client, receiver.url()) });
  await update(client, conversationId, { assignment: { type: 'queue', id: '102' } });
  await play(client, await openConversation(client), 'join');
  await settle(client);
  expect(types(receiver.received)).toEqual(['QUEUED']);
});

test('§Events: a cleared sandbox forgets the events that were not delivered', async () => {
  const receiver = await aReceiver(({ path }) => (path === '/old' ? 'hang' : 200));
  const client = await aClient();
  await openConversation(client, { channelId: await openChannel(client, receiver.url('/old')) });
  await receiver.arrival(1);
  await client.sandbox.clearLedger();
  expect(await settle(client)).toEqual({ pending: 0, delivered: 0, givenUp: 0, failedAttempts: 0, outside: 0 });
  expect((await look(client, 'conversations')).body).toEqual([]);
  await openConversation(client, { channelId: await openChannel(client, receiver.url('/new')) });
  await settle(client);
  expect(receiver.received.map(({ path }) => path)).toEqual(['/old', '/new']);
});

test('sandbox closes while a webhook never answers', async () => {
  const receiver = await aReceiver(() => 'hang');
  const client = await aClient();
  await openConversation(client, { channelId: await openChannel(client, receiver.url()) });
  await receiver.arrival(1);
  await client.sandbox.close();
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
  expect(await openChannel(client, await aDeafUrl())).toEqual(expect.any(String));
  expect(await settle(client)).toMatchObject({ delivered: 0, givenUp: 1, failedAttempts: 1 });
});
