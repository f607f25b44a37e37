import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UserError } from '../../src/domain/errors.js';
import { createRateCounter } from '../../src/sandbox/admission.js';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';
import { aBatch, aClient, aClock, aContact, aMessage, at } from './sandbox-client.js';

const LEDGER = '/data/ledger.ndjson';

/** A disk, and options of a sandbox that keeps its data there. */
function aDataDirectory() {
  const disk = aMemoryDisk();
  return { disk, options: { dataDirectory: '/data', files: disk.files } };
}

test('sandbox listens on loopback at a free port and says where, and with which credentials', async () => {
  const { sandbox } = await aClient();
  expect(sandbox.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(sandbox.credentials).toEqual({
    account: 'acme',
    subAccountId: 'acme_hq',
    apiKey: 'sandbox-test-key-not-a-secret',
    chatKey: 'sandbox-chat-key-not-a-secret',
    gatewayKey: 'sandbox-gateway-key-not-a-secret',
    campaign: {
      username: 'acme',
      dataToken: 'sandbox-data-token-not-a-secret',
      actionToken: 'sandbox-action-token-not-a-secret',
    },
  });
});

test('sandbox refuses a port that is taken', async () => {
  const { sandbox } = await aClient();
  const port = Number(new URL(sandbox.origin).port);
  await expect(startSandbox({ port })).rejects.toThrow(UserError);
  await expect(startSandbox({ port })).rejects.toThrow(
    `address already in use 127.0.0.1:${port}, expected a free address of this machine`,
  );
});

test('sandbox with a data directory resumes after a restart', async () => {
  const { options } = aDataDirectory();
  const first = await aClient(options);
  await first.sendBatch(aBatch(3));
  const created = await first.createContact(aContact({ groups: [{ id: 7 }], lastName: 'Lee' }));
  await first.createContact(aContact({ firstName: 'Anna' }));
  const before = await first.ledger();

  await first.close();
  const second = await aClient(options);
  expect(await second.ledger()).toEqual(before);
  const merged = await second.createContact({ country: 'SG', addresses: { msisdn: '+6590000001' } });
  const body = { id: created.body.id, firstName: 'Anna', lastName: 'Lee', country: 'SG', groups: [{ id: 7 }] };
  expect(merged).toMatchObject({ status: 200, body });
  expect((await second.createContact({ addresses: { msisdn: '+6590000009' } })).body.id).not.toBe(created.body.id);
  const after = await second.ledger();
  expect(after.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(after.map(({ request }) => request)).toEqual([1, 1, 1, 2, 3, 4, 5]);
});

test('sandbox with a data directory remembers what is scheduled and what was cancelled', async () => {
  const options = { ...aDataDirectory().options, clock: aClock() };
  const first = await aClient(options);
  const scheduled = aBatch(0, { messages: [aMessage(1, { scheduled: at(3_600_000) })] });
  const [one, two] = [await first.sendBatch(scheduled), await first.sendBatch(scheduled)];
  await first.cancelBatch(one.body.batchId);
  await first.close();

  const second = await aClient(options);
  expect((await second.cancelBatch(one.body.batchId)).body).toEqual({ cancelledCount: 0 });
  expect((await second.entries('sms')).map(({ cancelledAt }) => cancelledAt)).toEqual([at(0), null]);
  expect((await second.cancelBatch(two.body.batchId)).body).toEqual({ cancelledCount: 1 });
});

test('sandbox cuts a torn last line of its ledger off and resumes behind it', async () => {
  const { disk, options } = aDataDirectory();
  const first = await aClient(options);
  await first.sendBatch(aBatch(2));
  const whole = disk.readText(LEDGER);
  await first.sendBatch(aBatch(2));
  await first.close();
  disk.write(LEDGER, disk.readText(LEDGER).slice(0, -5));

  const second = await aClient(options);
  expect(await second.sentIds()).toEqual(['m1', 'm2']);
  expect(disk.readText(LEDGER)).toBe(whole);
  await second.sendBatch(aBatch(1));
  await second.close();
  expect(await (await aClient(options)).sentIds()).toEqual(['m1', 'm2', 'm1']);
});

test.each([
  ['a damaged line', 1, '{"seq":1,'],
  ['a line that is no page', 1, '{"hello":1}'],
  ['another version', 0, '{"format":"volley-sandbox-ledger","version":2}'],
  ['another file', 0, 'name,mobile'],
])('sandbox refuses a ledger with %s, and names the line', async (_, place, text) => {
  const { disk, options } = aDataDirectory();
  const first = await aClient(options);
  await first.sendBatch(aBatch(2));
  await first.sendBatch(aBatch(2));
  await first.close();
  disk.write(LEDGER, disk.readText(LEDGER).split('\n').with(place, text).join('\n'));
  const start = startSandbox(options);
  await expect(start).rejects.toThrow(UserError);
  await expect(start).rejects.toThrow(`line ${place + 1} of ledger.ndjson`);
});

test('sandbox keeps the order of requests that come at once, each batch whole', async () => {
  const client = await aClient(aDataDirectory().options);
  const sizes = Array.from({ length: 40 }, (_, place) => place + 1);
  await Promise.all(sizes.map((size) => client.sendBatch(aBatch(size, { clientBatchId: `b${size}` }))));
  const entries = await client.entries('sms');
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, place) => place + 1));
  const order = [...new Set(entries.map(({ clientBatchId }) => Number(clientBatchId?.slice(1))))];
  expect(order.toSorted((a, b) => a - b)).toEqual(sizes);
  const whole = order.flatMap((size) => Array.from({ length: size }, (_, place) => `b${size} m${place + 1}`));
  expect(entries.map(({ clientBatchId, clientMessageId }) => `${clientBatchId} ${clientMessageId}`)).toEqual(whole);
});

test('rate counter takes exactly the limit in any sliding second', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.integer({ min: 0, max: 700 })), (limit, gaps) => {
      const take = createRateCounter(limit);
      const taken: number[] = [];
      let now = 0;
      for (const gap of gaps) {
        now += gap;
        const isTaken = take('a', now);
        expect(isTaken).toBe(taken.filter((time) => now - time < 1000).length < limit);
        if (isTaken) taken.push(now);
      }
    }),
  );
});
