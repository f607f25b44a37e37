import { expect, test, vi } from 'vitest';
import { aBatch, aClient, aContact } from '../sandbox-client.js';

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
