import { expect, test } from 'vitest';
import { aClient, aClock } from '../sandbox-client.js';
import { aDeafUrl, aReceiver, type Received } from '../webhook/receiver.js';
import { openChannel, openConversation, play, settle, update, VERSION } from './gateway-client.js';

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

test('§Events: an update has no event, and the sandbox channel has none at all', async () => {
  const receiver = await aReceiver();
  const client = await aClient();
  const conversationId = await openConversation(client, { channelId: await openChannel(client, receiver.url()) });
  await update(client, conversationId, { assignment: { type: 'queue', id: '102' } });
  await play(client, await openConversation(client), 'join');
  await settle(client);
  expect(types(receiver.received)).toEqual(['QUEUED']);
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
