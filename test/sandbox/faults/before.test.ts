import { expect, test, vi } from 'vitest';
import { aBatch, aClient, aClock, aContact, at, BATCH_PATH, CONTACTS_PATH } from '../sandbox-client.js';

test.each([200, 202, 204, 206] as const)('fault status-%i is answered without a body, unprocessed', async (status) => {
  const client = await aClient({}, { kind: `status-${status}` });
  const answer = await client.sendBatch(aBatch());
  expect([answer.status, answer.text]).toEqual([status, '']);
  expect(await client.ledger()).toEqual([]);
});

test.each([301, 302, 303, 307, 308] as const)('fault status-%i points elsewhere', async (status) => {
  const client = await aClient({}, { kind: `status-${status}` });
  const answer = await client.sendBatch(aBatch());
  expect([answer.status, answer.headers.location]).toEqual([status, `/redirected${BATCH_PATH}`]);
  expect(await client.ledger()).toEqual([]);
});

test.each([429, 503] as const)('fault status-%i asks to wait, in seconds, by a date, or not at all', async (status) => {
  const client = await aClient(
    { clock: aClock() },
    { kind: `status-${status}`, nth: 1 },
    { kind: `status-${status}`, nth: 2, retryAfter: 30 },
    { kind: `status-${status}`, nth: 3, retryAfter: 30, retryAfterForm: 'date' },
    { kind: `status-${status}`, nth: 4, retryAfterForm: 'none' },
  );
  const waits: unknown[] = [];
  for (let nth = 1; nth <= 4; nth++) waits.push((await client.sendBatch(aBatch())).headers['retry-after']);
  expect(waits).toEqual(['1', '30', new Date(at(30_000)).toUTCString(), undefined]);
});

test('fault reset-before ends the connection without an answer, unprocessed', async () => {
  const kind = 'reset-before';
  const client = await aClient({}, { kind });
  await expect(client.sendBatch(aBatch())).rejects.toMatchObject({ code: 'ECONNRESET' });
  await expect(client.createContact(aContact())).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(await client.ledger()).toEqual([]);
  expect([...client.sandbox.readRequests()]).toMatchObject([
    { area: 'sms', status: 0, messages: 3, fault: kind },
    { area: 'contacts', status: 0, messages: 1, fault: kind },
  ]);
});

test('fault stall never answers, unprocessed, until the sandbox closes', async () => {
  const client = await aClient({}, { kind: 'stall' });
  const answer = client.sendBatch(aBatch());
  let isSettled = false;
  answer.catch(() => undefined).finally(() => (isSettled = true));
  await vi.waitFor(() => expect([...client.sandbox.readRequests()]).toMatchObject([{ fault: 'stall' }]));
  expect(await client.ledger()).toEqual([]);
  expect((await client.ask(undefined, { method: 'GET', path: '/_sandbox' })).status).toBe(200);
  expect(isSettled).toBe(false);
  await client.sandbox.close();
  await expect(answer).rejects.toThrow();
});

test('fault latency delays, by the sum of all that strike, and the rest is unchanged', async () => {
  const clock = aClock();
  const client = await aClient(
    { clock },
    { kind: 'latency', delayMs: 250 },
    { kind: 'latency', delayMs: 50, nth: 2 },
    { kind: 'status-500', nth: 3 },
  );
  expect((await client.sendBatch(aBatch())).body.acceptedCount).toBe(3);
  expect((await client.sendBatch(aBatch())).body.acceptedCount).toBe(3);
  expect((await client.sendBatch(aBatch())).status).toBe(500);
  expect(clock.slept).toEqual([250, 300, 250]);
  expect([...client.sandbox.readRequests()].map(({ fault }) => fault)).toEqual(['latency', 'latency', 'status-500']);
});

test('closing the sandbox does not wait for a delay to pass, and processes nothing more', async () => {
  const client = await aClient({}, { kind: 'latency', delayMs: 600_000 });
  const answer = client.ask(aContact(), { path: CONTACTS_PATH });
  answer.catch(() => undefined);
  await vi.waitFor(() => expect([...client.sandbox.readRequests()]).toHaveLength(1));
  await client.sandbox.close();
  await expect(answer).rejects.toThrow();
});
