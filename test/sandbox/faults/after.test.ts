import { expect, test, vi } from 'vitest';
import { aBatch, aClient, aContact, aMessage } from '../sandbox-client.js';

const ALL = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8'];
const idsOf = (messages: { clientMessageId: string }[]) => messages.map((row) => row.clientMessageId);

test.each([500, 502, 504, 429, 404, 202] as const)(
  'fault status-after answers %i though everything was processed',
  async (status) => {
    const client = await aClient({}, { kind: 'status-after', status });
    expect((await client.sendBatch(aBatch())).status).toBe(status);
    expect((await client.createContact(aContact())).status).toBe(status);
    expect(await client.sentIds()).toEqual(['m1', 'm2', 'm3']);
    expect(await client.entries('contacts')).toHaveLength(1);
  },
);

test('fault stall-after processes and never answers', async () => {
  const client = await aClient({}, { kind: 'stall-after' });
  const leave = new AbortController();
  const answer = client.ask(aBatch(), { signal: leave.signal });
  answer.catch(() => undefined);
  await vi.waitFor(async () => expect(await client.sentIds()).toEqual(['m1', 'm2', 'm3']));
  leave.abort();
  await expect(answer).rejects.toThrow();
});

test('fault partial leaves a share of the rows out, or exactly those whose number ends so; the counts are as they are', async () => {
  const client = await aClient({}, { kind: 'partial', rows: 0.25, nth: 1 }, { kind: 'partial', endingWith: '04' });
  const shares = (await client.sendBatch(aBatch(8))).body;
  expect(shares).toMatchObject({ acceptedCount: 8, rejectedCount: 0 });
  expect(new Set(idsOf(shares.messages)).size).toBe(6);
  expect(await client.sentIds()).toEqual(ALL);
  const { body } = await client.sendBatch(aBatch(8));
  expect(idsOf(body.messages).toSorted()).toEqual(ALL.filter((id) => id !== 'm4'));
});

test('fault foreign gives the rows of another batch under the own batch id', async () => {
  const client = await aClient({}, { kind: 'foreign', nth: 2 });
  await client.sendBatch(aBatch(0, { messages: [aMessage(11), aMessage(12)] }));
  const { body } = await client.sendBatch(aBatch(2, { clientBatchId: 'b2' }));
  expect(body).toMatchObject({ clientBatchId: 'b2', acceptedCount: 2 });
  expect(idsOf(body.messages).toSorted()).toEqual(['m11', 'm12']);
  expect(await client.sentIds()).toEqual(['m11', 'm12', 'm1', 'm2']);
});

test('fault foreign gives ids that no one sent when there was no other batch', async () => {
  const client = await aClient({}, { kind: 'foreign' });
  const { body } = await client.sendBatch(aBatch(2));
  expect(idsOf(body.messages)).toEqual(['not-yours-0', 'not-yours-1']);
});

test('faults repeated, null-messages and wrong-count give rows twice, none though they were asked for, and one accepted too many', async () => {
  const client = await aClient(
    {},
    { kind: 'repeated', rows: 0.5, nth: 1 },
    { kind: 'null-messages', nth: 2 },
    { kind: 'wrong-count' },
  );
  const repeated = (await client.sendBatch(aBatch(8))).body;
  expect(repeated.messages).toHaveLength(12);
  expect(new Set(idsOf(repeated.messages)).size).toBe(8);
  const refused = aBatch(0, { messages: [aMessage(1), aMessage(2, { destination: '1' })] });
  expect((await client.sendBatch(refused)).body).toMatchObject({ acceptedCount: 1, rejectedCount: 1, messages: null });
  const { body } = await client.sendBatch(aBatch(8));
  expect(body).toMatchObject({ acceptedCount: 9, rejectedCount: 0 });
  expect(body.messages).toHaveLength(8);
});

test('fault of rows in the answer leaves an answer without rows alone', async () => {
  const client = await aClient({}, { kind: 'partial', nth: 1 }, { kind: 'repeated', nth: 2 }, { kind: 'foreign' });
  for (let nth = 1; nth <= 3; nth++) {
    const { body } = await client.sendBatch(aBatch(2, { includeMessagesInResponse: false }));
    expect(body).toMatchObject({ acceptedCount: 2, messages: null });
  }
});
