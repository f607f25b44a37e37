import { expect, test } from 'vitest';
import { look, openChannel, openConversation } from '../gateway/gateway-client.js';
import { aBatch, aClient, aClock } from '../sandbox-client.js';
import { ManualClock } from './manual-clock.js';
import { aDeafUrl, aReceiver } from './receiver.js';

test('until=settled ends though a receiver is away indefinitely, and says by its status that something is pending', async () => {
  const clock = new ManualClock();
  const client = await aClient({ clock });
  await openConversation(client, { channelId: await openChannel(client, await aDeafUrl()) });
  await clock.sleepers(1);
  const { status, body } = await look(client, 'webhooks?until=settled&seconds=0.01');
  expect([status, body]).toEqual([503, { pending: 1, delivered: 0, givenUp: 1, failedAttempts: 2, outside: 0 }]);
});

test('until=settled ends though a receiver never answers', async () => {
  const receiver = await aReceiver(() => 'hang');
  const client = await aClient();
  await client.sendBatch(aBatch(1, { template: { text: 'Hi', dlrCallbackUrl: receiver.url() } }));
  await receiver.arrival(1);
  const { status, body } = await look(client, 'webhooks?until=settled&seconds=0.01');
  expect([status, body.pending]).toEqual([503, 2]);
});

test.each(['', '0', '-1', 'soon', '601', 'Infinity'])('until=settled refuses to wait %j seconds', async (seconds) => {
  const client = await aClient();
  expect((await look(client, `webhooks?until=settled&seconds=${seconds}`)).status).toBe(400);
});

test('flushing tries what has its turn, and waits for no other attempt', async () => {
  const receiver = await aReceiver();
  const clock = new ManualClock();
  const client = await aClient({ clock });
  const deaf = await aDeafUrl();
  for (const url of [receiver.url(), deaf]) {
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
