import { expect, test } from 'vitest';
import { aBatch, aClient, aClock, aMessage, at, NOON } from '../sandbox-client.js';

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

test.each([
  ['no text', { text: undefined }, { text: undefined }, 'Text value is missing'],
  ['an empty text of its own', { text: '' }, {}, 'Text value is missing'],
  ['more than ten parts', { text: 'x'.repeat(1531) }, {}, 'Invalid Text value. Reached max allowed limit'],
  ['more than ten UCS-2 parts', { text: 'ж'.repeat(671) }, {}, 'Invalid Text value. Reached max allowed limit'],
  [
    'more parts than ten by its encoding',
    { text: 'x'.repeat(671), encoding: 'UCS2' },
    {},
    'Invalid Text value. Reached max allowed limit',
  ],
  ['an alphanumeric sender of 12', { source: 'ABCDEFGHIJKL' }, {}, 'Invalid Source value. Reached max allowed limit'],
  ['a numeric sender of 17', { source: '1'.repeat(17) }, {}, 'Invalid Source value. Reached max allowed limit'],
  [
    'an alphanumeric sender of 12 in the template',
    {},
    { source: 'ABCDEFGHIJKL' },
    'Invalid Source value. Reached max allowed limit',
  ],
  ['an expiry that was reached', { expiry: at(0) }, {}, 'Expiry time already reached'],
  ['an expiry that was reached, in the template', {}, { expiry: at(-1) }, 'Expiry time already reached'],
  ['too short a number', { destination: '+123456' }, {}, 'Invalid MSISDN format (not E.164 international number)'],
  [
    'too long a number',
    { destination: '+1234567890123456' },
    {},
    'Invalid MSISDN format (not E.164 international number)',
  ],
  [
    'a number that begins with 0',
    { destination: '0912345678' },
    {},
    'Invalid MSISDN format (not E.164 international number)',
  ],
  [
    'a number with blanks',
    { destination: '+65 9000 0001' },
    {},
    'Invalid MSISDN format (not E.164 international number)',
  ],
  [
    'a number with a line end',
    { destination: '+6590000001\n' },
    {},
    'Invalid MSISDN format (not E.164 international number)',
  ],
])('batch refuses a message alone, inside a 200, for %s', async (_, own, inTemplate, description) => {
  const client = await aClient({ clock: aClock() });
  const good = { source: 'OK', text: 'Hi', expiry: at(HOUR) };
  const { status, body } = await client.sendBatch({
    includeMessagesInResponse: true,
    template: { text: 'Hi', source: 'ACME', ...inTemplate },
    messages: [aMessage(1, good), aMessage(2, own), aMessage(3, good)],
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({ acceptedCount: 2, rejectedCount: 1 });
  const refused = body.messages.find((row: { clientMessageId: string }) => row.clientMessageId === 'm2');
  expect(refused).toMatchObject({
    umid: expect.stringMatching(UUID),
    destination: 'destination' in own ? own.destination : '+6590000002',
    status: { code: 'REJECTED', description },
  });
  expect(await client.sentIds()).toEqual(['m1', 'm3']);
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

test.each([
  ['a text of ten parts', { text: 'x'.repeat(1530) }],
  ['an alphanumeric sender of 11', { source: 'ABCDEFGHIJK' }],
  ['a numeric sender of 16', { source: '1'.repeat(16) }],
  ['a clientMessageId of 350', { clientMessageId: 'i'.repeat(350) }],
  ['a number of 7 digits', { destination: '1234567' }],
  ['a number of 15 digits with a plus', { destination: '+123456789012345' }],
  ['seven days ahead', { scheduled: at(7 * DAY) }],
  ['a time with an offset', { scheduled: '2026-11-22T12:00:00+08:00' }],
  ['a time that has passed', { scheduled: at(-DAY) }],
  ['an expiry just ahead', { expiry: at(1) }],
])('batch takes a message with %s', async (_, own) => {
  const client = await aClient({ clock: aClock() });
  const { body } = await client.sendBatch(aBatch(0, { messages: [aMessage(1, own)] }));
  expect(body).toMatchObject({ acceptedCount: 1, rejectedCount: 0 });
});

const message = (more: Record<string, unknown>) => ({ messages: [aMessage(1), aMessage(2, more)] });
const template = (more: Record<string, unknown>) => ({ template: { text: 'Hi', ...more } });

test.each([
  ['no messages', { messages: undefined }, 3012],
  ['empty messages', { messages: [] }, 3012],
  ['messages that are no array', { messages: {} }, 1000],
  ['10,001 messages', { messages: Array.from({ length: 10_001 }, (_, place) => aMessage(place)) }, 3013],
  ['a clientBatchId of 21', { clientBatchId: 'b'.repeat(21) }, 3014],
  ['a clientBatchId that is no text', { clientBatchId: 1 }, 1000],
  ['a null clientBatchId', { clientBatchId: null }, 1000],
  ['an includeMessagesInResponse that is no boolean', { includeMessagesInResponse: 'true' }, 1000],
  ['a template that is no object', { template: 'Hi' }, 1007],
  ['a null template', { template: null }, 1007],
  ['a template text that is no text', template({ text: 1 }), 1004],
  ['a template sender of 17', template({ source: '1'.repeat(17) }), 3011],
  ['a template sender that is no text', template({ source: 1 }), 1005],
  ['an unknown template encoding', template({ encoding: 'UTF8' }), 1003],
  ['a template schedule that is no time', template({ scheduled: 'tomorrow' }), 1011],
  ['a template schedule more than seven days ahead', template({ scheduled: at(7 * DAY + 1) }), 1011],
  ['a template expiry that is no time', template({ expiry: 'never' }), 1006],
  ['a template receipt address that is none', template({ dlrCallbackUrl: 'nowhere' }), 3020],
  ['a message that is no object', { messages: [aMessage(1), 'x'] }, 1000],
  ['a message without destination', message({ destination: undefined }), 1002],
  ['a destination that is a number', message({ destination: 6590000001 }), 1002],
  ['a country of three letters', message({ country: 'SGP' }), 1009],
  ['a clientMessageId of 351', message({ clientMessageId: 'i'.repeat(351) }), 3009],
  ['a clientMessageId that is no text', message({ clientMessageId: 7 }), 1000],
  ['a text that is no text', message({ text: {} }), 1004],
  ['a sender that is no text', message({ source: 5 }), 1005],
  ['an unknown encoding', message({ encoding: 'auto' }), 1003],
  ['a schedule without offset', message({ scheduled: '2026-11-22T12:00:00' }), 1011],
  ['a schedule more than seven days ahead', message({ scheduled: at(7 * DAY + 1) }), 1011],
  ['a schedule on a day that is none', message({ scheduled: '2026-13-45T12:00:00Z' }), 1011],
  ['an expiry that is no time', message({ expiry: 5 }), 1006],
  ['a receipt address that is not of the web', message({ dlrCallbackUrl: 'ftp://a.example' }), 3020],
])('batch is refused whole with 400 for %s', async (_, more, code) => {
  const client = await aClient({ clock: aClock() });
  const { status, body } = await client.sendBatch(aBatch(2, more));
  expect([status, body.code]).toEqual([400, code]);
  expect(body.timestamp).toBe(new Date(NOON).toISOString());
  expect(await client.ledger()).toEqual([]);
});

test('batch takes 10,000 messages and a clientBatchId of 20', async () => {
  const client = await aClient();
  const { body } = await client.sendBatch(aBatch(10_000, { clientBatchId: 'b'.repeat(20) }));
  expect(body).toMatchObject({ acceptedCount: 10_000, clientBatchId: 'b'.repeat(20) });
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
