import { expect, test } from 'vitest';
import { UserError } from '../../../src/domain/errors.js';
import type { FaultInput } from '../../../src/sandbox/fault.js';
import { aBatch, aClient, aContact, type Client } from '../sandbox-client.js';

async function statuses(client: Client, count: number): Promise<number[]> {
  const seen: number[] = [];
  for (let nth = 0; nth < count; nth++) seen.push((await client.sendBatch(aBatch(1))).status);
  return seen;
}

test('fault with nth strikes these requests of its area alone, counted since faults were set', async () => {
  const client = await aClient();
  await statuses(client, 2);
  client.sandbox.setFaults([{ kind: 'status-500', area: 'sms', nth: [2, 4] }]);
  expect((await client.createContact(aContact())).status).toBe(201);
  expect(await statuses(client, 5)).toEqual([200, 500, 200, 500, 200]);
});

test('fault with a rate strikes the same requests for a seed, others for another, about as often', async () => {
  const strike = async (seed: number) => {
    const client = await aClient({}, { kind: 'status-500', rate: 0.3, seed });
    return statuses(client, 100);
  };
  const [first, again, other] = [await strike(1), await strike(1), await strike(2)];
  expect(again).toEqual(first);
  expect(other).not.toEqual(first);
  const struck = first.filter((status) => status === 500).length;
  expect(struck).toBeGreaterThan(15);
  expect(struck).toBeLessThan(45);
});

test('the first of several deciding faults decides, and the others are not used up', async () => {
  const client = await aClient({}, { kind: 'status-500', times: 1 }, { kind: 'status-502', times: 1 });
  expect(await statuses(client, 3)).toEqual([500, 502, 200]);
});

test.each([
  ['an unknown kind', { kind: 'gremlins' }, /faults\[0\.kind\]: expected status-/],
  ['a status that is none', { kind: 'status-600' }, /faults\[0\.kind\]/],
  ['an unknown parameter', { kind: 'latency', delay: 5 }, /delay/],
  ['a rate above 1', { kind: 'latency', rate: 2 }, /rate/],
  ['an nth of 0', { kind: 'latency', nth: 0 }, /nth/],
  ['an unknown area', { kind: 'latency', area: 'fax' }, /area/],
  ['an ending that is no number', { kind: 'reject-rows', endingWith: 'x' }, /endingWith/],
])('setting faults refuses %s, and leaves the faults as they were', async (_, fault, message) => {
  const client = await aClient({}, { kind: 'status-502' });
  const set = () => client.sandbox.setFaults([fault as FaultInput]);
  expect(set).toThrow(UserError);
  expect(set).toThrow(message);
  expect(await statuses(client, 1)).toEqual([502]);
});
