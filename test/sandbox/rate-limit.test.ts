import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRateCounter } from '../../src/sandbox/rate-limit.js';
import { aBatch, aClient, aClock, BATCH_PATH } from './sandbox-client.js';

test('rate counter takes exactly the limit in any sliding second', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.integer({ min: 0, max: 700 })), (limit, gaps) => {
      const take = createRateCounter(limit);
      const taken: number[] = [];
      let now = 0;
      for (const gap of gaps) {
        now += gap;
        const inTheSecondBefore = taken.filter((time) => now - time < 1000).length;
        const isTaken = take('a', now);
        expect(isTaken).toBe(inTheSecondBefore < limit);
        if (isTaken) taken.push(now);
      }
    }),
  );
});

test('rate counter counts names apart', () => {
  const take = createRateCounter(1);
  expect([take('a', 0), take('b', 0), take('a', 1)]).toEqual([true, true, false]);
});

test('sandbox answers 429 with Retry-After 1 above the rate of a subaccount, and again 200 a second later', async () => {
  const clock = aClock();
  const client = await aClient({ clock, rateLimits: { perSubAccount: 2 }, accounts: [{ account: 'other' }] });
  await client.sendBatch(aBatch(1));
  await client.sendBatch(aBatch(1));
  const refused = await client.sendBatch(aBatch(1));
  expect([refused.status, refused.headers['retry-after'], refused.body.code]).toEqual([429, '1', 429]);
  expect(refused.body.message).toBe('Quota exceeded. Please try again in 1 second(s).');
  const other = await client.ask(aBatch(1), { path: BATCH_PATH.replace('acme_hq', 'other_hq') });
  expect(other.status).toBe(200);
  clock.advance(999);
  expect((await client.sendBatch(aBatch(1))).status).toBe(429);
  clock.advance(1);
  expect((await client.sendBatch(aBatch(1))).status).toBe(200);
  expect(await client.sms()).toHaveLength(4);
});

test('sandbox answers 429 above the rate of an address, over all subaccounts', async () => {
  const client = await aClient({ clock: aClock(), rateLimits: { perAddress: 1 }, accounts: [{ account: 'other' }] });
  expect((await client.sendBatch(aBatch(1))).status).toBe(200);
  const other = await client.ask(aBatch(1), { path: BATCH_PATH.replace('acme_hq', 'other_hq') });
  expect(other.status).toBe(429);
});
