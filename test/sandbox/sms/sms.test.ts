import { expect, test } from 'vitest';
import { aBatch, aClient, aClock, aMessage, at, BATCH_PATH } from '../sandbox-client.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

test('batch is accepted, and answered row by row under its clientMessageIds, in another order', async () => {
  const client = await aClient();
  const { status, body } = await client.sendBatch(aBatch(5));
  expect(status).toBe(200);
  expect(body).toMatchObject({ clientBatchId: 'b1', acceptedCount: 5, rejectedCount: 0 });
  expect(body.batchId).toMatch(UUID);
  const ids = body.messages.map((row: { clientMessageId: string }) => row.clientMessageId);
  expect(ids.toSorted()).toEqual(['m1', 'm2', 'm3', 'm4', 'm5']);
  for (const [place, id] of ids.entries()) expect(id).not.toBe(`m${place + 1}`);
  expect(body.messages.find((row: { clientMessageId: string }) => row.clientMessageId === 'm2')).toEqual({
    umid: expect.stringMatching(UUID),
    clientMessageId: 'm2',
    destination: '6590000002',
    encoding: 'GSM7',
    status: { code: 'QUEUED', description: 'SMS is accepted and queued for processing' },
  });
});

test('batch is in the ledger as it is in force: the template, and over it the message', async () => {
  const client = await aClient({ clock: aClock() });
  const { body } = await client.sendBatch({
    clientBatchId: 'b1',
    includeMessagesInResponse: true,
    template: {
      source: 'ACME',
      text: 'Hi',
      scheduled: at(DAY),
      expiry: at(2 * DAY),
      dlrCallbackUrl: 'https://a.example/x',
    },
    messages: [
      aMessage(1),
      { destination: '6590000002', text: 'Привет', source: '12345', country: 'SG', scheduled: at(2 * DAY) },
    ],
  });
  const umidOf = (id: string | null) =>
    body.messages.find((row: { clientMessageId: string | null }) => row.clientMessageId === id).umid;
  const shared = {
    at: at(0),
    area: 'sms',
    request: 1,
    subAccountId: 'acme_hq',
    batchId: body.batchId,
    clientBatchId: 'b1',
    parts: 1,
    expiry: at(2 * DAY),
    dlrCallbackUrl: 'https://a.example/x',
    cancelledAt: null,
  };
  expect(await client.ledger()).toEqual([
    {
      ...shared,
      seq: 1,
      umid: umidOf('m1'),
      clientMessageId: 'm1',
      destination: '+6590000001',
      country: null,
      source: 'ACME',
      text: 'Hi',
      encoding: 'GSM7',
      scheduled: at(DAY),
    },
    {
      ...shared,
      seq: 2,
      umid: umidOf(null),
      clientMessageId: null,
      destination: '6590000002',
      country: 'SG',
      source: '12345',
      text: 'Привет',
      encoding: 'UCS2',
      scheduled: at(2 * DAY),
    },
  ]);
});

test('batch answers messages: null and clientBatchId: null when they were not asked for or given', async () => {
  const client = await aClient();
  const { body } = await client.sendBatch({ messages: [aMessage(1, { text: 'Hi' })] });
  expect(body).toEqual({
    batchId: expect.any(String),
    clientBatchId: null,
    acceptedCount: 1,
    rejectedCount: 0,
    messages: null,
  });
  expect((await client.sendBatch(aBatch(1, { includeMessagesInResponse: false }))).body.messages).toBeNull();
});

test('batch gives every message its own umid, over batches too', async () => {
  const client = await aClient();
  for (let count = 0; count < 5; count++) await client.sendBatch(aBatch(50));
  expect(new Set((await client.sms()).map(({ umid }) => umid)).size).toBe(250);
});

test('batch is accepted again when it comes again: nothing is deduplicated', async () => {
  const client = await aClient();
  await client.sendBatch(aBatch(2));
  await client.sendBatch(aBatch(2));
  expect(await client.sentIds()).toEqual(['m1', 'm2', 'm1', 'm2']);
});

test('batch gives refused messages one umid together, and none of an accepted one', async () => {
  const client = await aClient();
  const bad = (number: number) => aMessage(number, { destination: 'x' });
  const { body } = await client.sendBatch(aBatch(0, { messages: [aMessage(1), bad(2), bad(3), aMessage(4)] }));
  const umids = (code: string) =>
    body.messages.flatMap((row: { umid: string; status: { code: string } }) =>
      row.status.code === code ? [row.umid] : [],
    );
  expect(new Set(umids('REJECTED')).size).toBe(1);
  expect(new Set([...umids('QUEUED'), ...umids('REJECTED')]).size).toBe(3);
});

test('batch of nothing but refused messages is a 200, and leaves nothing in the ledger', async () => {
  const client = await aClient();
  const { status, body } = await client.sendBatch(aBatch(0, { messages: [aMessage(1, { destination: '1' })] }));
  expect(status).toBe(200);
  expect(body).toMatchObject({ acceptedCount: 0, rejectedCount: 1 });
  expect(await client.ledger()).toEqual([]);
});

test('batch in the compact form of the documentation is one of messages that say nothing but their numbers', async () => {
  const client = await aClient();
  const { messages: _, ...rest } = aBatch();
  const { status, body } = await client.sendBatch({ ...rest, destinations: ['+6590000001', '6590000002', 'x'] });
  expect([status, body.acceptedCount, body.rejectedCount]).toEqual([200, 2, 1]);
  expect(body.messages.map((row: { clientMessageId: unknown }) => row.clientMessageId)).toEqual([null, null, null]);
  expect((await client.sms()).map(({ destination, text, source }) => [destination, text, source])).toEqual([
    ['+6590000001', 'Hi there', 'ACME'],
    ['6590000002', 'Hi there', 'ACME'],
  ]);
  expect([...client.sandbox.readRequests()]).toMatchObject([{ messages: 3 }]);
});

test.each([
  ['both forms at once', { destinations: ['+6590000001'] }, 1000],
  ['destinations that are no list', { messages: undefined, destinations: '+6590000001' }, 1000],
  ['no destinations', { messages: undefined, destinations: [] }, 3012],
  ['10,001 destinations', { messages: undefined, destinations: Array(10_001).fill('+6590000001') }, 3013],
  ['a destination that is a number', { messages: undefined, destinations: [6590000001] }, 1002],
])('batch with %s is refused', async (_, more, code) => {
  const client = await aClient();
  const { status, body } = await client.sendBatch(aBatch(1, more));
  expect([status, body.code]).toEqual([400, code]);
  expect(await client.sms()).toEqual([]);
});

test('cancel counts the messages whose time has not come, once, and the ledger says so', async () => {
  const clock = aClock();
  const client = await aClient({ clock });
  const { body } = await client.sendBatch(
    aBatch(0, {
      messages: [aMessage(1), aMessage(2, { scheduled: at(HOUR) }), aMessage(3, { scheduled: at(DAY) })],
    }),
  );
  clock.advance(2 * HOUR);
  const cancelled = await client.cancelBatch(body.batchId);
  expect([cancelled.status, cancelled.body]).toEqual([200, { cancelledCount: 1 }]);
  expect((await client.cancelBatch(body.batchId)).body).toEqual({ cancelledCount: 0 });
  expect((await client.sms()).map(({ cancelledAt }) => cancelledAt)).toEqual([null, null, at(2 * HOUR)]);
});

test("cancel answers 404 with code 1300 for an unknown batch and for another subaccount's", async () => {
  const client = await aClient({ accounts: [{ account: 'other' }] });
  const { body } = await client.sendBatch(aBatch(3));
  const otherPath = `${BATCH_PATH.replace('acme_hq', 'other_hq')}/${body.batchId}`;
  const answers = [
    await client.cancelBatch('00000000-0000-0000-0000-000000000000'),
    await client.ask(undefined, { method: 'DELETE', path: otherPath }),
  ];
  expect(answers.map((answer) => [answer.status, answer.body.code])).toEqual([
    [404, 1300],
    [404, 1300],
  ]);
});
