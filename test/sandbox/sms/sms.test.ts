import { expect, test } from 'vitest';
import { aBatch, aClient, aClock, aMessage, at, BATCH_PATH } from '../sandbox-client.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

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
