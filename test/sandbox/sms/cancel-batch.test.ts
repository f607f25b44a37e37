import { expect, test } from 'vitest';
import { aBatch, aClient, aClock, aMessage, at, BATCH_PATH } from '../sandbox-client.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

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

test('cancel answers 0 for a batch that was not scheduled', async () => {
  const client = await aClient();
  const { body } = await client.sendBatch(aBatch(3));
  expect((await client.cancelBatch(body.batchId)).body).toEqual({ cancelledCount: 0 });
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
