import { expect, test } from 'vitest';
import type { KeptPost } from '../../../src/sandbox/webhook/sender.js';
import { look, openChannel, openConversation, play, settle } from '../gateway/gateway-client.js';
import { aBatch, aClient, aClock, aMessage, at, type Client } from '../sandbox-client.js';
import { aReceiver } from './receiver.js';

const HOOK = 'https://hooks.example.com/volley';
const SETTLED = { pending: 0, delivered: 0, givenUp: 0, failedAttempts: 0, outside: 0 };

async function kept(client: Client): Promise<KeptPost[]> {
  return (await look(client, 'webhooks/outside')).body;
}

function receipted(url: string, count = 2) {
  return aBatch(count, { template: { text: 'Hi', dlrCallbackUrl: url } });
}

test('receipts for an address outside of this machine are kept and shown as not delivered', async () => {
  const client = await aClient({ clock: aClock() });
  await client.sendBatch(receipted(HOOK));

  expect(await settle(client)).toEqual({ ...SETTLED, outside: 4 });
  const posts = await kept(client);
  expect(posts).toMatchObject(
    Array(4).fill({
      at: at(0),
      url: HOOK,
      reason: 'not delivered, outside of this machine',
      body: { namespace: 'SMS' },
    }),
  );
  const told = posts.map(({ body }) => body as { payload: { destination: string; status: { state: string } } });
  expect(told.map(({ payload }) => [payload.destination, payload.status.state])).toEqual([
    ['+6590000001', 'sent'],
    ['+6590000001', 'delivered'],
    ['+6590000002', 'sent'],
    ['+6590000002', 'delivered'],
  ]);
});

test('events of a channel whose webhook is outside of this machine are kept, each with its kind', async () => {
  const client = await aClient({ clock: aClock() });
  const channelId = await openChannel(client, HOOK);
  const id = await openConversation(client, { channelId });
  await play(client, id, 'join');
  await play(client, id, 'type');

  expect(await settle(client)).toMatchObject({ pending: 0, failedAttempts: 0 });
  const kinds = (await kept(client)).map(({ body }) => (body as { eventType: string }).eventType);
  expect(kinds.slice(-3)).toEqual(['QUEUED', 'AGENT_JOINED', 'ACTIVITY']);
});

test('receipts for this machine are delivered beside others that are kept', async () => {
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
});

test('a receiver on this machine that redirects outside of it is not followed', async () => {
  const receiver = await aReceiver((_, place) => (place === 0 ? 307 : 200));
  const client = await aClient({ clock: aClock() });
  await client.sendBatch(receipted(receiver.url(), 1));

  expect(await settle(client)).toEqual({ ...SETTLED, delivered: 2, failedAttempts: 1, outside: 0 });
  expect(receiver.received.map(({ path }) => path)).toEqual(['/hook', '/hook', '/hook']);
});

test('of very many the last thousand are kept, and all are counted', async () => {
  const client = await aClient({ clock: aClock() });
  await client.sendBatch(receipted(HOOK, 1400));

  expect(await settle(client)).toMatchObject({ outside: 2800 });
  const ids = (await kept(client)).map(({ body }) => (body as { payload: { clientMessageId: string } }).payload);
  expect([ids.length, ids[0]?.clientMessageId, ids.at(-1)?.clientMessageId]).toEqual([1000, 'm901', 'm1400']);
});

test('a cleared ledger forgets what was kept', async () => {
  const client = await aClient({ clock: aClock() });
  await client.sendBatch(receipted(HOOK));
  await client.sandbox.clearLedger();

  expect(await settle(client)).toEqual(SETTLED);
  expect(await kept(client)).toEqual([]);
});
