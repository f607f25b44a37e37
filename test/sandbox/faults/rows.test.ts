import { expect, test } from 'vitest';
import { changeCampaign, read, readCampaign } from '../campaign-and-chat.js';
import { aBatch, aClient } from '../sandbox-client.js';

type Row = { clientMessageId: string; status: { code: string; description: string } };
const rejected = (rows: Row[]) => rows.filter(({ status }) => status.code === 'REJECTED');
const idsOf = (rows: Row[]) => rows.map(({ clientMessageId }) => clientMessageId);

test.each([
  [0.5, 4],
  [1, 8],
  [0.01, 1],
  [0, 0],
])('fault reject-rows with a share of %f refuses %i of 8, and those are not in the ledger', async (rows, count) => {
  const client = await aClient({}, { kind: 'reject-rows', rows, seed: 3 });
  const { status, body } = await client.sendBatch(aBatch(8));
  expect([status, body.acceptedCount, body.rejectedCount]).toEqual([200, 8 - count, count]);
  const refused = rejected(body.messages);
  const description = 'Invalid MSISDN format (not E.164 international number)';
  expect(refused.map((row) => row.status.description)).toEqual(Array(count).fill(description));
  const sent = await client.sentIds();
  expect([...sent, ...idsOf(refused)].toSorted()).toEqual(['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8']);
});

test('which rows a fault refuses follows from its seed alone', async () => {
  const refusedBy = async (seed: number) => {
    const client = await aClient({}, { kind: 'latency', delayMs: 0 }, { kind: 'reject-rows', rows: 0.5, seed });
    return idsOf(rejected((await client.sendBatch(aBatch(20))).body.messages)).toSorted();
  };
  expect(await refusedBy(3)).toEqual(await refusedBy(3));
  expect(await refusedBy(3)).not.toEqual(await refusedBy(4));
});

test('fault reject-rows refuses exactly the numbers that end so, in every batch, as told', async () => {
  const client = await aClient({}, { kind: 'reject-rows', endingWith: '02', description: 'Not today' });
  for (let round = 0; round < 2; round++) {
    const { body } = await client.sendBatch(aBatch(3));
    expect(rejected(body.messages)).toMatchObject([{ clientMessageId: 'm2', status: { description: 'Not today' } }]);
  }
  expect(await client.sentIds()).toEqual(['m1', 'm3', 'm1', 'm3']);
});

test('fault status-400 with endingWith refuses only batches that hold such a number', async () => {
  const client = await aClient({}, { kind: 'status-400', endingWith: '03' });
  expect((await client.sendBatch(aBatch(2))).status).toBe(200);
  expect((await client.sendBatch(aBatch(3))).status).toBe(400);
  expect((await client.sendBatch(aBatch(2))).status).toBe(200);
});

test('fault reject-rows refuses no request without rows', async () => {
  const client = await aClient({}, { kind: 'reject-rows', rows: 1 });
  const answers = [await readCampaign(client, 101), await changeCampaign(client, 101, 'PAUSED'), await read(client)];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
});
