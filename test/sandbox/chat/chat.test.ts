import { expect, test } from 'vitest';
import { aClient, aClock, type Client } from '../sandbox-client.js';
import { post, read } from './chat-client.js';

const OPTIONS = { rateLimits: {} };

async function postAll(client: Client, count: number, room?: string): Promise<void> {
  for (let number = 1; number <= count; number++) await post(client, { messageRaw: `m${number}`, room });
}

test('§Chat message: timestamps have 16 digits and rise strictly, however many messages a millisecond has', async () => {
  const client = await aClient({ ...OPTIONS, clock: aClock() });
  await postAll(client, 5);
  const times = (await read(client)).body.map(({ timestamp }: { timestamp: number }) => timestamp);
  for (const time of times) expect(String(time)).toMatch(/^\d{16}$/);
  expect(new Set(times).size).toBe(5);
  expect(times).toEqual(times.toSorted((a: number, b: number) => b - a));
});
