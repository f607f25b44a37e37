import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { aClient, aClock, type Client } from '../sandbox-client.js';
import { post, read } from './chat-client.js';

const OPTIONS = { rateLimits: false };

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

test('chat resumes after a restart with its rooms, and with later times', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'volley-sandbox-'));
  onTestFinished(() => rm(dataDirectory, { recursive: true }));
  const clock = aClock();
  const first = await aClient({ ...OPTIONS, dataDirectory, clock });
  await postAll(first, 3, 'sales');
  const before = (await read(first, '?room=sales')).body;
  await first.close();

  const second = await aClient({ ...OPTIONS, dataDirectory, clock });
  expect((await read(second, '?room=sales')).body).toEqual(before);
  const { body } = await post(second, { messageRaw: 'after' });
  expect(body.timestamp).toBeGreaterThan(before[0].timestamp);
});
