import { expect, test } from 'vitest';
import { settle } from '../gateway/gateway-client.js';
import { aClient } from '../sandbox-client.js';
import { aReceiver, type Behaviour } from '../webhook/receiver.js';

const write = (more: object) => ({ source: '+6591234567', text: 'STOP', ...more });
const INBOUND = { path: '/_sandbox/inbound', authorization: undefined };

test('a person who writes is posted to the receiver, again until it is taken, and is in no ledger', async () => {
  const behaviours: Behaviour[] = [503, 'reset', 200];
  const receiver = await aReceiver(() => behaviours.shift() ?? 500);
  const client = await aClient({ webhookRetryScale: 0.001 });
  const { status, body } = await client.ask(write({ url: receiver.url() }), INBOUND);

  expect(status).toBe(202);
  expect(await settle(client)).toMatchObject({ delivered: 1, failedAttempts: 2 });
  expect(receiver.received.map((each) => each.body)).toEqual(
    Array(3).fill({
      namespace: 'SMS',
      eventType: 'inbound_message_received',
      description: 'SMS inbound message',
      payload: {
        umid: body.umid,
        subAccountId: 'acme_hq',
        source: '+6591234567',
        destination: '+6598765432',
        body: 'STOP',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      },
    }),
  );
  expect(await client.ledger()).toEqual([]);
});

test.each([
  ['url', { url: 'localhost' }],
  ['source', { url: 'http://127.0.0.1:1/', source: 'LADEN' }],
  ['text', { url: 'http://127.0.0.1:1/', text: '' }],
])('a person who writes needs %s', async (name, more) => {
  const client = await aClient();
  const { status, body } = await client.ask(write(more), INBOUND);
  expect([status, body.message]).toEqual([400, expect.stringContaining(`${name}: `)]);
});
