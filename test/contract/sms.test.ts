import { expect, test } from 'vitest';
import { DOCUMENTED_RATE_LIMITS } from '../../src/sandbox/admission.js';
import { aBatch, aClient, aClock, aMessage, at } from '../sandbox/sandbox-client.js';
import {
  type BearerArea,
  type BearerEndpoint,
  countedIds,
  type Fields,
  testBearerArea,
  testRegions,
  testSubAccounts,
} from './bearer-area.js';
import {
  aBatchOf,
  ERRORS,
  MESSAGE_SIZES,
  OTHER_ADDRESSES,
  REJECTIONS,
  REQUEST_SIZES,
  REQUESTS,
  RESPONSES,
  TEXT_SIZES,
} from './sms-tables.js';

const pathOf = (subAccountId: string) => `/api/v1/subaccounts/${encodeURIComponent(subAccountId)}/messages/batch`;

const SEND: BearerEndpoint = {
  title: 'endpoint 3 (send SMS batch)',
  method: 'POST',
  prepare: async (_, id) => pathOf(id),
  body: aBatch(1),
  status: 200,
};

const CANCEL: BearerEndpoint = {
  title: 'the endpoint that cancels a batch',
  method: 'DELETE',
  prepare: async (client, id) => {
    const { batchId = 'none' } = (await client.ask(aBatch(1), { path: pathOf(id) })).body;
    return `${pathOf(id)}/${batchId}`;
  },
  status: 200,
};

const SMS: BearerArea = {
  title: 'SMS batch',
  name: 'sms',
  endpoints: [SEND, CANCEL],
  ids: { own: 'acme_hq', foreign: 'other_hq' },
  badNumber: aBatchOf({ destination: 7 }),
  others: OTHER_ADDRESSES,
  call: ({ sms }) => sms.sendBatch({ messages: [{ destination: '+6590000001', text: 'Hi', source: 'ACME' }] }),
};

testRegions(SMS, '');
testSubAccounts(SMS);
testBearerArea(SMS);

/** A sandbox that stands at noon, and what it answers to a batch. */
async function aSent(batch: Fields) {
  const clock = aClock();
  const client = await aClient({ clock, newId: countedIds() });
  return { client, clock, ...(await client.sendBatch(batch)) };
}

test.each(REQUESTS)('Resources, SMS batch request body: %s', async (_, batch, accepted) => {
  const { client, status } = await aSent(batch);
  expect(status).toBe(200);
  expect(await client.entries('sms')).toMatchObject(accepted);
});

test.each(RESPONSES)('Resources, SMS batch response body: %s', async (_, batch, expected) => {
  const { body } = await aSent(batch);
  // Its order is not promised.
  const messages = body.messages?.toSorted(byDestination) ?? null;
  expect({ ...body, messages }).toEqual(expected);
  expect(Object.keys(body)).toEqual(Object.keys(expected));
});

const byDestination = (one: { destination: string }, other: { destination: string }) =>
  one.destination < other.destination ? -1 : 1;

test('Resources, SMS batch response body, per-message results: umid is unique; open point: those that are refused share one', async () => {
  const { client, body } = await aSent(aBatch(50));
  const refused = [51, 52].map((number) => aMessage(number, { destination: 'x' }));
  const again = await client.sendBatch(aBatch(0, { messages: [...aBatch(50).messages, ...refused] }));
  const umids = [...body.messages, ...again.body.messages].map(({ umid }) => umid);
  expect(umids).toHaveLength(102);
  expect(new Set(umids).size).toBe(101);
});

test('Open point, Resources, SMS batch response body: the order of per-message results is not that of the request', async () => {
  const { body } = await aSent(aBatch(5));
  const ids = body.messages.map(({ clientMessageId }: { clientMessageId: string }) => clientMessageId);
  expect(ids).not.toEqual(['m1', 'm2', 'm3', 'm4', 'm5']);
  expect(ids.toSorted()).toEqual(['m1', 'm2', 'm3', 'm4', 'm5']);
});

test.each(REJECTIONS)(
  'Open point, Errors, 2 SMS batch: a message alone is REJECTED, "%s", when %s',
  async (description, _, own) => {
    const { client, status, body } = await aSent(aBatch(0, { messages: [aMessage(1, own), aMessage(2)] }));
    expect(status).toBe(200);
    expect(body).toMatchObject({ acceptedCount: 1, rejectedCount: 1 });
    const rejected = body.messages.find(({ clientMessageId }: { clientMessageId: string }) => clientMessageId === 'm1');
    expect(rejected.status).toEqual({ code: 'REJECTED', description });
    expect(await client.sentIds()).toEqual(['m2']);
  },
);

test('Open point, Errors, 2 SMS batch: a number that is none may refuse the whole request with 400, code 1002', async () => {
  const client = await aClient({}, { kind: 'strict-numbers' });
  const { status, body } = await client.sendBatch(
    aBatch(0, { messages: [aMessage(1), aMessage(2, { destination: '1' })] }),
  );
  expect([status, body.code]).toEqual([400, 1002]);
  expect(await client.entries('sms')).toEqual([]);
});

test.each(ERRORS)('Open point, Errors, 2 SMS batch: %i, code %i, when %s', async (status, code, _, batch) => {
  const { client, ...answer } = await aSent(batch);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(await client.entries('sms')).toEqual([]);
});

test.each(REQUEST_SIZES)('Open point, Limits, SMS batch: %s, %s', async (_, __, within, beyond, code) => {
  expect((await aSent(within)).body.rejectedCount).toBe(0);
  const { status, body } = await aSent(beyond);
  expect([status, body.code]).toEqual([400, code]);
});

test.each(MESSAGE_SIZES)('Open point, Limits, SMS batch: %s, %s', async (_, __, within, beyond, description) => {
  expect((await aSent(aBatchOf(within))).body).toMatchObject({ acceptedCount: 1, rejectedCount: 0 });
  const { body } = await aSent(aBatchOf(beyond));
  expect(body).toMatchObject({ acceptedCount: 0, rejectedCount: 1 });
  expect(body.messages[0].status).toEqual({ code: 'REJECTED', description });
});

test.each(TEXT_SIZES)(
  'Open point, Limits, SMS batch: a text of %i characters of %s takes %i SMS',
  async (length, encoding, parts) => {
    const { client } = await aSent(aBatchOf({ text: (encoding === 'GSM7' ? 'x' : 'ж').repeat(length) }));
    expect(await client.entries('sms')).toMatchObject([{ encoding, parts }]);
  },
);

test('Open point, Limits, SMS batch: 1,800 requests a second of a subaccount, 3,000 of an address', () => {
  expect(DOCUMENTED_RATE_LIMITS).toMatchObject({ perSubAccount: 1800, perAddress: 3000 });
});

test.each([
  ['subaccount', { perSubAccount: 3 }, ['acme_hq', 'acme_hq', 'acme_hq'], 'acme_hq'],
  ['address', { perAddress: 3 }, ['acme_hq', 'acme_promo', 'acme_hq'], 'acme_sale'],
] as const)(
  'Open point, Limits, SMS batch: above the rate of a %s is 429, Retry-After 1, body code 429; a second later it is taken',
  async (_, rateLimits, within, beyond) => {
    const clock = aClock();
    const accounts = [{ account: 'acme', subAccountIds: ['acme_promo', 'acme_sale'] }];
    const client = await aClient({ clock, accounts, rateLimits });
    const send = (id: string) => client.ask(aBatch(1), { path: pathOf(id) });
    for (const id of within) expect((await send(id)).status).toBe(200);
    clock.advance(999);
    const { status, headers, body } = await send(beyond);
    expect([status, headers['retry-after'], body.code]).toEqual([429, '1', 429]);
    clock.advance(1);
    expect((await send(beyond)).status).toBe(200);
    expect(await client.entries('sms')).toHaveLength(4);
  },
);

test('Open point, Endpoints, endpoint 3: a batch that comes again is sent again, whatever its ids', async () => {
  const { client } = await aSent(aBatch(1));
  expect((await client.sendBatch(aBatch(1))).body).toMatchObject({ clientBatchId: 'b1', acceptedCount: 1 });
  expect(await client.sentIds()).toEqual(['m1', 'm1']);
});

test.each([
  ['messages that are scheduled', { scheduled: at(60_000) }, 59_999, 1],
  ['none whose time has come', { scheduled: at(60_000) }, 60_000, 0],
  ['none that was not scheduled', {}, 0, 0],
])('Open point, Endpoints: cancelling a batch counts %s', async (_, own, afterMs, cancelledCount) => {
  const { client, clock, body } = await aSent(aBatchOf(own));
  clock.advance(afterMs);
  const cancelled = await client.cancelBatch(body.batchId);
  expect([cancelled.status, cancelled.body]).toEqual([200, { cancelledCount }]);
});

test("Open point, Endpoints: cancelling an unknown batch, or another subaccount's, is 404, code 1300", async () => {
  const client = await aClient({ accounts: [{ account: 'other' }] });
  const { batchId } = (await client.sendBatch(aBatch(3))).body;
  for (const path of [
    `${pathOf('acme_hq')}/00000000-0000-0000-0000-000000000000`,
    `${pathOf('other_hq')}/${batchId}`,
  ]) {
    const { status, body } = await client.ask(undefined, { method: 'DELETE', path });
    expect([status, body.code]).toEqual([404, 1300]);
  }
});
