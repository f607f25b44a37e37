import { expect, test } from 'vitest';
import { UserError } from '../../../src/domain/errors.js';
import { FAULT_KINDS, type FaultInput } from '../../../src/sandbox/faults/fault.js';
import { aBatch, aClient, aContact, type Client } from '../sandbox-client.js';

async function statuses(client: Client, count: number): Promise<number[]> {
  const seen: number[] = [];
  for (let nth = 0; nth < count; nth++) seen.push((await client.sendBatch(aBatch(1))).status);
  return seen;
}

test('fault strikes only the area it names', async () => {
  const client = await aClient({}, { kind: 'status-500', area: 'contacts' });
  expect(await statuses(client, 1)).toEqual([200]);
  expect((await client.createContact(aContact())).status).toBe(500);
});

test('fault with nth strikes these requests of the area, counted since faults were set', async () => {
  const client = await aClient();
  await statuses(client, 2);
  client.sandbox.setFaults([{ kind: 'status-500', area: 'sms', nth: [2, 4] }]);
  await client.createContact(aContact());
  expect(await statuses(client, 5)).toEqual([200, 500, 200, 500, 200]);
});

test('fault with times strikes at most so often', async () => {
  const client = await aClient({}, { kind: 'status-503', times: 2 });
  expect(await statuses(client, 4)).toEqual([503, 503, 200, 200]);
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

test('fault with rate 0 never strikes', async () => {
  const client = await aClient({}, { kind: 'status-500', rate: 0 });
  expect(await statuses(client, 3)).toEqual([200, 200, 200]);
});

test('the first of several deciding faults decides, and the others are not used up', async () => {
  const client = await aClient({}, { kind: 'status-500', times: 1 }, { kind: 'status-502', times: 1 });
  expect(await statuses(client, 3)).toEqual([500, 502, 200]);
});

test('a distortion passes by an area whose answers cannot suffer it', async () => {
  const client = await aClient({}, { kind: 'null-messages', times: 1 });
  expect((await client.createContact(aContact())).status).toBe(201);
  expect((await client.sendBatch(aBatch(1))).body.messages).toBeNull();
});

test('setting faults replaces those that were set, and an empty list ends them', async () => {
  const client = await aClient({}, { kind: 'status-500' });
  client.sandbox.setFaults([{ kind: 'status-502' }]);
  expect(await statuses(client, 1)).toEqual([502]);
  client.sandbox.setFaults([]);
  expect(await statuses(client, 1)).toEqual([200]);
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

test.each(FAULT_KINDS.filter((kind) => !kind.startsWith('stall') && kind !== 'latency'))(
  'a message is in the ledger exactly when it was processed and accepted, whatever %s lets leave',
  async (kind) => {
    const client = await aClient({}, { kind, nth: [1, 3] });
    const batch = (round: number) =>
      aBatch(0, {
        messages: [1, 2, 3, 4].map((number) => ({
          destination: `+659000000${number}`,
          clientMessageId: `${round}-${number}`,
        })),
      });
    for (let round = 1; round <= 4; round++) await client.sendBatch(batch(round)).catch(() => undefined);
    const all = [1, 2, 3, 4].flatMap((round) => [1, 2, 3, 4].map((number) => `${round}-${number}`));
    const sent = await client.sentIds();
    const struck = (id: string) => id.startsWith('1') || id.startsWith('3');
    if (kind === 'reset-before' || kind === 'close-before') {
      expect(sent).toEqual(all.filter((id) => !struck(id)));
    } else if (kind === 'reject-rows' || kind === 'internal-rows') {
      expect(sent.filter((id) => !struck(id ?? ''))).toEqual(all.filter((id) => !struck(id)));
      expect(sent).toHaveLength(14);
    } else {
      expect(sent).toEqual(all);
    }
  },
);
