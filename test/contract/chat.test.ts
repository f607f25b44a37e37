import { expect, test } from 'vitest';
import { post, read } from '../sandbox/campaign-and-chat.js';
import { aClient, aClock, type Client, NOON } from '../sandbox/sandbox-client.js';
import { expectAccepted, expectRefused } from './contract-fields.js';

const HI = { messageRaw: 'Hi' };

/** Many requests in no time are not what these tests are about. */
const WITHOUT_RATE = { rateLimits: {} };

async function postMany(client: Client, count: number): Promise<void> {
  for (let number = 1; number <= count; number++) await post(client, { messageRaw: `m${number}` });
}

const someText = expect.stringMatching(/./);
const MESSAGE = {
  authorUser: { avatarUrl: expect.toSatisfy(URL.canParse), email: someText, id: someText, name: someText },
  parsed: 'Hi',
  id: someText,
  timestamp: NOON * 1000,
};

test('Resources, Chat message: these fields and no other; open point: also in the answer to a post, which is 200; times are microseconds', async () => {
  const client = await aClient({ clock: aClock() });
  const { status, body } = await post(client, HI);
  expect([status, body]).toEqual([200, MESSAGE]);
  expect((await read(client)).body).toEqual([body]);
});

test('Resources, Chat message: each has an id of its own; times have 16 digits and rise strictly, however many a millisecond has', async () => {
  const client = await aClient({ ...WITHOUT_RATE, clock: aClock() });
  await postMany(client, 5);
  const messages: { id: string; timestamp: number }[] = (await read(client)).body;
  const times = messages.map(({ timestamp }) => timestamp);
  expect(new Set(messages.map(({ id }) => id)).size).toBe(5);
  expect(new Set(times).size).toBe(5);
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  for (const time of times) expect(String(time)).toMatch(/^\d{16}$/);
});

test.each(['Hi', 'Größe 😀 你好', 'two\nlines', '"quoted" \\ & <b>'])(
  'Resources, Chat message: parsed is the text that was posted as messageRaw: %j',
  async (messageRaw) => {
    const client = await aClient();
    expectAccepted(await post(client, { messageRaw }));
    expect((await read(client)).body[0].parsed).toBe(messageRaw);
  },
);

test('Endpoints, 8 and 9: answers are JSON, of a room where nothing was posted an empty array', async () => {
  const client = await aClient();
  const empty = await read(client);
  expectAccepted(empty);
  expect(empty.body).toEqual([]);
  for (const { headers } of [empty, await post(client, HI)]) {
    expect(headers['content-type']).toMatch(/^application\/json\b/);
  }
});

test('Endpoints, 8: pageSize is an integer; open point: a read gives 30 messages where it is left out, and more where it says so', async () => {
  const client = await aClient(WITHOUT_RATE);
  await postMany(client, 35);
  for (const [query, count] of [
    ['?pageSize=1', 1],
    ['?pageSize=2', 2],
    ['?pageSize=50', 35],
    ['', 30],
    ['?pageSize=35', 35],
  ] as const) {
    expect([query, (await read(client, query)).body.length]).toEqual([query, count]);
  }
});

test.each(['1.5', 'ten', '', 'true', '0', '-1'])(
  'Endpoints, 8: pageSize is an integer, open point: from 1: "%s" is refused',
  async (pageSize) => {
    const client = await aClient();
    await expectRefused(client, () => read(client, `?pageSize=${pageSize}`));
  },
);

test('Endpoints, 9: a message that was posted appears in the room, in this read and in later ones', async () => {
  const client = await aClient(WITHOUT_RATE);
  await post(client, HI);
  const first = (await read(client)).body;
  await post(client, { messageRaw: 'Hello' });
  const second = (await read(client)).body;
  expect(second).toHaveLength(2);
  expect(second).toEqual(expect.arrayContaining(first));
});

test.each<unknown>([
  ...[undefined, 5, null, ['Hi'], { text: 'Hi' }, true].map((messageRaw) => ({ messageRaw })),
  undefined,
  '{"messageRaw":',
  '"Hi"',
])('Endpoints, 9: messageRaw is a string in a JSON object: %j is refused', async (body) => {
  const client = await aClient();
  await expectRefused(client, () => post(client, body));
});

async function askMany(client: Client, reads: number, posts: number): Promise<void> {
  for (let count = 0; count < reads; count++) expectAccepted(await read(client));
  for (let count = 0; count < posts; count++) expectAccepted(await post(client, HI));
}

test.each([
  [5, 0],
  [0, 5],
  [3, 2],
])(
  'Limits: a key has 5 requests per second: after %i reads and %i posts none; open point: 429 with Retry-After',
  async (reads, posts) => {
    const clock = aClock();
    const client = await aClient({ clock });
    await askMany(client, reads, posts);
    clock.advance(999);
    for (const call of [() => read(client), () => post(client, HI)]) {
      const { status, headers } = await expectRefused(client, call);
      expect([status, headers['retry-after']]).toEqual([429, '1']);
    }
    clock.advance(1);
    await askMany(client, 1, 4);
  },
);

test.each([
  ['/chat/api/chat/v1/messages', true],
  ['/chat/api/chat/v2/messages', false],
  ['/chat/api/chat/messages', false],
  ['/api/chat/v1/messages', false],
])('Versioning: workplace chat has v1 in its path: %s is served: %s', async (path, isServed) => {
  const client = await aClient();
  const call = () => read(client, '', { path });
  if (isServed) expectAccepted(await call());
  else await expectRefused(client, call);
});

test.each([
  ['the sandbox room, when neither names a room', undefined, '', ['Hi']],
  ['the room that both name, which is made by the post', 'sales', '?room=sales', ['Hi']],
  ['nothing, when they name different rooms', 'sales', '?room=support', []],
  ['nothing, when only the post names one', 'sales', '', []],
])('Open point, Endpoints, 8 and 9: a read gives %s', async (_, room, query, texts) => {
  const client = await aClient();
  expectAccepted(await post(client, { ...HI, room }));
  expect((await read(client, query)).body.map(({ parsed }: { parsed: string }) => parsed)).toEqual(texts);
});
