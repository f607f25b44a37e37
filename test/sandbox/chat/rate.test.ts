import { expect, test } from 'vitest';
import { aClient, aClock } from '../sandbox-client.js';
import { entries, post, read } from './chat-client.js';

test('§Limits: 5 requests a second for a key, reads and posts together; the sixth is answered 429 and not accepted', async () => {
  const clock = aClock();
  const client = await aClient({ clock });
  for (let number = 1; number <= 3; number++) await post(client, { messageRaw: `m${number}` });
  await read(client);
  await read(client);
  const refused = await post(client, { messageRaw: 'too many' });
  expect([refused.status, refused.headers['retry-after'], Object.keys(refused.body)]).toEqual([429, '1', ['fault']]);
  expect((await read(client)).status).toBe(429);
  clock.advance(999);
  expect((await read(client)).status).toBe(429);
  clock.advance(1);
  expect((await read(client)).status).toBe(200);
  expect(await entries(client)).toHaveLength(3);
});

test('§Limits: a wrong key takes nothing from the rate of the right one', async () => {
  const client = await aClient({ clock: aClock() });
  for (let number = 1; number <= 10; number++) await read(client, '', { key: 'who-is-this' });
  expect((await read(client)).status).toBe(200);
});

test('§Limits: a sandbox without rate limits has none for chat', async () => {
  const client = await aClient({ clock: aClock(), rateLimits: false });
  const answers = await Promise.all(Array.from({ length: 20 }, () => read(client)));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
});
