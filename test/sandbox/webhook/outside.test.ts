import { expect, test } from 'vitest';
import { openChannel, openConversation, play, settle } from '../gateway/gateway-client.js';
import { aBatch, aClient, aClock, aMessage } from '../sandbox-client.js';
import { aReceiver } from './receiver.js';

const HOOK = 'https://hooks.example.com/volley';
const SETTLED = { pending: 0, delivered: 0, givenUp: 0, failedAttempts: 0, outside: 0 };

function receipted(url: string, count = 2) {
  return aBatch(count, { template: { text: 'Hi', dlrCallbackUrl: url } });
}

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

test('a receiver on this machine that redirects outside of it is not followed', async () => {
  const receiver = await aReceiver((_, place) => (place === 0 ? 307 : 200));
  const client = await aClient({ clock: aClock() });
  await client.sendBatch(receipted(receiver.url(), 1));

  expect(await settle(client)).toEqual({ ...SETTLED, delivered: 2, failedAttempts: 1, outside: 0 });
  expect(receiver.received.map(({ path }) => path)).toEqual(['/hook', '/hook', '/hook']);
});
