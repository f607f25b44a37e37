import { createRequire } from 'node:module';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { measureText } from '../../../src/sandbox/sms/sms.js';
import { FakeClock } from '../../run/fake-clock.js';
import { aMemoryDisk } from '../../storage/a-memory-disk.js';
import { settle } from '../gateway/gateway-client.js';
import { aBatch, aClient, aClock, aMessage, at, NOON } from '../sandbox-client.js';
import { aReceiver, type Behaviour, type Receiver } from '../webhook/receiver.js';

const HOUR_MS = 3_600_000;

/** A batch whose template asks for receipts. */
function aReceiptedBatch(receiver: Receiver, count: number, more: Record<string, unknown> = {}) {
  return aBatch(count, { template: { source: 'ACME', text: 'Hi', dlrCallbackUrl: receiver.url('/dlr') }, ...more });
}

test('a message has two receipts, sent and then delivered, with the fields of the documentation', async () => {
  const receiver = await aReceiver();
  const client = await aClient({ clock: aClock() });
  const { body } = await client.sendBatch(
    aReceiptedBatch(receiver, 0, { messages: [aMessage(1, { text: 'x'.repeat(400) })] }),
  );
  expect(await settle(client)).toEqual({ pending: 0, delivered: 2, givenUp: 0, failedAttempts: 0, outside: 0 });
  const payload = {
    umid: body.messages[0].umid,
    batchId: body.batchId,
    clientMessageId: 'm1',
    clientBatchId: 'b1',
    subAccountId: 'acme_hq',
    source: 'ACME',
    destination: '+6590000001',
    price: { total: 0.03, perSms: 0.01, currency: 'USD' },
    smsCount: 3,
  };
  const receipt = { namespace: 'SMS', eventType: 'outbound_message_status_changed', description: expect.any(String) };
  expect(receiver.received.map((received) => received.body)).toEqual([
    { ...receipt, payload: { ...payload, status: { state: 'sent', timestamp: at(0) } } },
    {
      ...receipt,
      payload: { ...payload, status: { state: 'delivered', detail: 'delivered_to_recipient', timestamp: at(0) } },
    },
  ]);
  expect(receiver.received[0]?.path).toBe('/dlr');
});

test('a number ending in 0000 is undelivered, with the reason and without a price', async () => {
  const receiver = await aReceiver();
  const client = await aClient();
  await client.sendBatch(aReceiptedBatch(receiver, 0, { messages: [aMessage(1, { destination: '+6590010000' })] }));
  await settle(client);
  expect(receiver.received[1]?.body.payload).toMatchObject({
    destination: '+6590010000',
    status: {
      state: 'undelivered',
      detail: 'undelivered_to_recipient',
      errorCode: 1,
      errorMessage: 'Absent subscriber',
    },
  });
  expect(receiver.received[1]?.body.payload).not.toHaveProperty('price');
});

test("a message's own address goes before the template's, and one without any has no receipts", async () => {
  const receiver = await aReceiver();
  const client = await aClient();
  const messages = [aMessage(1), aMessage(2, { dlrCallbackUrl: receiver.url('/own') })];
  await client.sendBatch(aReceiptedBatch(receiver, 0, { messages }));
  await client.sendBatch(aBatch(3));
  await settle(client);
  const got = receiver.received.map(({ path, body }) => `${path} ${body.payload.clientMessageId}`);
  expect(got.toSorted()).toEqual(['/dlr m1', '/dlr m1', '/own m2', '/own m2']);
});

test('a receipt is repeated after 1, 10, 30 and 90 s, and then given up', async () => {
  const receiver = await aReceiver(({ body }) => (body.payload.status.state === 'sent' ? 500 : 200));
  const clock = aClock();
  const client = await aClient({ clock });
  await client.sendBatch(aReceiptedBatch(receiver, 1));
  expect(await settle(client)).toEqual({ pending: 0, delivered: 1, givenUp: 1, failedAttempts: 5, outside: 0 });
  expect(clock.slept).toEqual([1000, 10_000, 30_000, 90_000]);
  const states = receiver.received.map(({ body }) => body.payload.status.state);
  expect(states).toEqual([...Array(5).fill('sent'), 'delivered']);
});

test('a repeated receipt keeps the time at which its state was reached', async () => {
  const receiver = await aReceiver((_, place) => (place === 0 ? 500 : 200));
  const clock = new FakeClock(NOON);
  const client = await aClient({ clock });
  await client.sendBatch(aReceiptedBatch(receiver, 1));
  await vi.waitFor(() => expect(clock.sleeping).toBe(1));
  clock.advance(1000);
  await settle(client);
  expect(receiver.received.map(({ body }) => body.payload.status.timestamp)).toEqual([at(0), at(0), at(1000)]);
});

test('receipts of a scheduled message wait for its time', async () => {
  const receiver = await aReceiver();
  const clock = new FakeClock(NOON);
  const client = await aClient({ clock });
  const messages = [aMessage(1, { scheduled: at(HOUR_MS) }), aMessage(2)];
  await client.sendBatch(aReceiptedBatch(receiver, 0, { messages }));
  await settle(client);
  expect(receiver.received.map(({ body }) => body.payload.clientMessageId)).toEqual(['m2', 'm2']);
  clock.advance(HOUR_MS);
  await receiver.arrival(4);
  await settle(client);
  const expected = { clientMessageId: 'm1', status: { state: 'sent', timestamp: at(HOUR_MS) } };
  expect(receiver.received[2]?.body.payload).toMatchObject(expected);
});

test('receipts of a cancelled batch fall away, but for those of messages that were not scheduled', async () => {
  const receiver = await aReceiver();
  const clock = new FakeClock(NOON);
  const client = await aClient({ clock });
  const messages = [aMessage(1, { scheduled: at(HOUR_MS) }), aMessage(2)];
  const { body } = await client.sendBatch(aReceiptedBatch(receiver, 0, { messages }));
  await client.cancelBatch(body.batchId);
  clock.advance(HOUR_MS);
  await client.sendBatch(aReceiptedBatch(receiver, 0, { messages: [aMessage(3)] }));
  await settle(client);
  const expected = ['m2', 'm2', 'm3', 'm3'];
  expect(receiver.received.map(({ body: { payload } }) => payload.clientMessageId).toSorted()).toEqual(expected);
});

test('after a restart no receipt is repeated, and those of scheduled messages are lost', async () => {
  const receiver = await aReceiver();
  const clock = new FakeClock(NOON);
  const options = { dataDirectory: '/data', files: aMemoryDisk().files, clock };
  const first = await aClient(options);
  const template = { text: 'Hi', scheduled: at(HOUR_MS), dlrCallbackUrl: receiver.url('/scheduled') };
  await first.sendBatch(aReceiptedBatch(receiver, 1));
  await first.sendBatch(aBatch(2, { template }));
  await settle(first);
  await first.close();

  const second = await aClient(options);
  clock.advance(HOUR_MS);
  expect(await settle(second)).toMatchObject({ pending: 0, delivered: 0 });
  expect(receiver.received.map(({ path }) => path)).toEqual(['/dlr', '/dlr']);
});

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

const splitSms = createRequire(import.meta.url)('split-sms') as {
  split(text: string, options: { characterset: string }): { parts: unknown[]; characterSet: string };
};

test('text never splits an escape or a surrogate pair over two parts', () => {
  expect(measureText(`${'x'.repeat(152)}€${'x'.repeat(152)}`, 'AUTO').parts).toBe(3);
  expect(measureText(`${'ж'.repeat(66)}😀${'ж'.repeat(65)}`, 'AUTO').parts).toBe(2);
  expect(measureText(`${'ж'.repeat(66)}😀${'ж'.repeat(66)}`, 'AUTO').parts).toBe(3);
});

test('text is measured as split-sms measures it', () => {
  const unit = fc.constantFrom('a', 'é', '€', '[', ' ', 'ж', '😀', '`');
  const text = fc.array(unit, { maxLength: 400 }).map((units) => units.join(''));
  fc.assert(
    fc.property(text, (written) => {
      const oracle = splitSms.split(written, { characterset: 'auto' });
      expect(measureText(written, 'AUTO').parts).toBe(Math.max(1, oracle.parts.length));
    }),
  );
});
