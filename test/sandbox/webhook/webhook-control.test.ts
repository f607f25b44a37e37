import { expect, test } from 'vitest';
import { FakeClock } from '../../run/fake-clock.js';
import { look, openChannel, openConversation, play, settle } from '../gateway/gateway-client.js';
import { aBatch, aClient, aClock, aMessage, NOON } from '../sandbox-client.js';
import { aReceiver, DEAF_URL } from './receiver.js';

test('flushing tries what has its turn, and waits for no other attempt', async () => {
  const receiver = await aReceiver();
  const clock = new FakeClock(NOON);
  const client = await aClient({ clock });
  for (const url of [receiver.url(), DEAF_URL]) {
    await client.sendBatch(aBatch(20, { template: { text: 'Hi', dlrCallbackUrl: url } }));
  }
  await client.sandbox.flushWebhooks(60_000);
  expect(receiver.received).toHaveLength(40);
  expect((await look(client, 'webhooks')).body).toMatchObject({ delivered: 40, failedAttempts: 20, pending: 40 });
});

test('flushing ends after its time though a receiver never answers', async () => {
  const receiver = await aReceiver(() => 'hang');
  const client = await aClient({ clock: aClock() });
  await client.sendBatch(aBatch(1, { template: { text: 'Hi', dlrCallbackUrl: receiver.url() } }));
  await receiver.arrival(1);
  await client.sandbox.flushWebhooks(60_000);
  expect((await look(client, 'webhooks')).body).toMatchObject({ delivered: 0, pending: 2 });
});

const HOOK = 'https://hooks.example.com/volley';
const SETTLED = { pending: 0, delivered: 0, givenUp: 0, failedAttempts: 0, outside: 0 };

test('receipts for this machine are delivered; those for others are counted, until the ledger is cleared', async () => {
  const receiver = await aReceiver();
  const client = await aClient({ clock: aClock() });
  const messages = [
    aMessage(1, { dlrCallbackUrl: receiver.url() }),
    aMessage(2, { dlrCallbackUrl: HOOK }),
    aMessage(3),
  ];
  await client.sendBatch(aBatch(3, { messages }));

  expect(await settle(client)).toEqual({ ...SETTLED, delivered: 2, outside: 2 });
  expect(receiver.received.map(({ body }) => body.payload.clientMessageId)).toEqual(['m1', 'm1']);
  await client.sandbox.clearLedger();
  expect(await settle(client)).toEqual(SETTLED);
});

test('events of a channel whose webhook is outside of this machine are counted', async () => {
  const client = await aClient({ clock: aClock() });
  const channelId = await openChannel(client, HOOK);
  const id = await openConversation(client, { channelId });
  await play(client, id, 'join');

  // That the webhook is there, that the conversation waits, and that an agent has joined.
  expect(await settle(client)).toEqual({ ...SETTLED, outside: 3 });
});
