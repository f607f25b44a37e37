import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { aClient, aClock, at, type Client, NOON } from '../sandbox-client.js';
import { entries, post, read } from './chat-client.js';

const OPTIONS = { rateLimits: false };

async function postAll(client: Client, count: number, room?: string): Promise<void> {
  for (let number = 1; number <= count; number++) await post(client, { messageRaw: `m${number}`, room });
}

const texts = ({ body }: { body: { parsed: string }[] }) => body.map(({ parsed }) => parsed);

test('§9 Post a chat message: 200 with the message, which appears in later reads and in the ledger', async () => {
  const client = await aClient({ ...OPTIONS, clock: aClock() });
  const { status, body } = await post(client, { messageRaw: 'Sale is out: 5,000 sent' });
  expect(status).toBe(200);
  expect(body).toEqual({
    authorUser: {
      avatarUrl: expect.any(String),
      email: expect.any(String),
      id: expect.any(String),
      name: expect.any(String),
    },
    parsed: 'Sale is out: 5,000 sent',
    id: expect.any(String),
    timestamp: NOON * 1000,
  });
  expect((await read(client)).body).toEqual([body]);
  expect(await entries(client)).toEqual([
    {
      seq: 1,
      at: at(0),
      area: 'chat',
      request: 1,
      room: 'sandbox',
      messageId: body.id,
      timestamp: body.timestamp,
      messageRaw: 'Sale is out: 5,000 sent',
    },
  ]);
});

test('§Chat message: timestamps have 16 digits and rise strictly, however many messages a millisecond has', async () => {
  const client = await aClient({ ...OPTIONS, clock: aClock() });
  await postAll(client, 5);
  const times = (await read(client)).body.map(({ timestamp }: { timestamp: number }) => timestamp);
  for (const time of times) expect(String(time)).toMatch(/^\d{16}$/);
  expect(new Set(times).size).toBe(5);
  expect(times).toEqual(times.toSorted((a: number, b: number) => b - a));
});

test('§8 Get chat messages: the newest pageSize messages, newest first, 30 by default', async () => {
  const client = await aClient(OPTIONS);
  await postAll(client, 35);
  expect(texts(await read(client, '?pageSize=3'))).toEqual(['m35', 'm34', 'm33']);
  const page = texts(await read(client));
  expect([page.length, page[0], page.at(-1)]).toEqual([30, 'm35', 'm6']);
  expect((await read(client, '?pageSize=100')).body).toHaveLength(35);
});

test('§8 Get chat messages: rooms are apart, and one that no one wrote in is empty', async () => {
  const client = await aClient(OPTIONS);
  await post(client, { messageRaw: 'for all' });
  await post(client, { messageRaw: 'for sales', room: 'sales' });
  expect(texts(await read(client))).toEqual(['for all']);
  expect(texts(await read(client, '?room=sales'))).toEqual(['for sales']);
  expect((await read(client, '?room=nobody')).body).toEqual([]);
});

test.each([
  ['no key', undefined],
  ['another key', 'who-is-this'],
])("§Errors 1: reading and posting answer 401 to %s, with the contract's fault", async (_, key) => {
  const client = await aClient();
  for (const answer of [await read(client, '', { key }), await post(client, { messageRaw: 'Hi' }, { key })]) {
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual({
      fault: {
        faultstring: expect.stringMatching(/invalid access token/i),
        detail: { errorcode: 'oauth.v2.InvalidAccessToken' },
      },
    });
  }
  expect(await entries(client)).toEqual([]);
});

test.each([
  ['no body', undefined],
  ['broken JSON', '{"messageRaw":'],
  ['an array', ['Hi']],
  ['no messageRaw', {}],
  ['an empty messageRaw', { messageRaw: '' }],
  ['a messageRaw that is no text', { messageRaw: 5 }],
  ['a room that is no text', { messageRaw: 'Hi', room: 5 }],
])('§9 Post a chat message: refused with 400 and a fault for %s', async (_, body) => {
  const client = await aClient();
  const answer = await post(client, body);
  expect([answer.status, Object.keys(answer.body)]).toEqual([400, ['fault']]);
  expect(await entries(client)).toEqual([]);
});

test('§9 Post a chat message: refused with 400 for another content type', async () => {
  const client = await aClient();
  expect((await post(client, { messageRaw: 'Hi' }, { contentType: 'text/plain' })).status).toBe(400);
});

test.each(['0', '-1', '1.5', 'ten', '', '1&pageSize=2'])(
  '§8 Get chat messages: refused with 400 for a pageSize of "%s"',
  async (pageSize) => {
    const client = await aClient();
    expect((await read(client, `?pageSize=${pageSize}`)).status).toBe(400);
  },
);

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

test('a cleared sandbox has no messages', async () => {
  const client = await aClient(OPTIONS);
  await postAll(client, 2);
  await client.sandbox.clearLedger();
  expect((await read(client)).body).toEqual([]);
});
