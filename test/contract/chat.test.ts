import { expect, test } from 'vitest';
import { post, read } from '../sandbox/chat/chat-client.js';
import { aClient, aClock, type Client, NOON } from '../sandbox/sandbox-client.js';
import { askWith } from './ask-with.js';
import { expectAccepted, expectRefused } from './contract-fields.js';

const HI = { messageRaw: 'Hi' };

/** Many requests in no time are not what these tests are about. */
const WITHOUT_RATE = { rateLimits: {} };

async function postMany(client: Client, count: number): Promise<void> {
  for (let number = 1; number <= count; number++) await post(client, { messageRaw: `m${number}` });
}

const someText = expect.stringMatching(/./);
const MESSAGE = {
  authorUser: {
    avatarUrl: expect.toSatisfy(URL.canParse),
    email: someText,
    id: someText,
    name: someText,
  },
  parsed: 'Hi',
  id: someText,
  timestamp: expect.toSatisfy((value) => /^\d{16}$/.test(JSON.stringify(value))),
};

test('Resources, Chat message: these fields and no other are in what is read; open point: and in the answer to a post', async () => {
  const client = await aClient();
  expect((await post(client, HI)).body).toEqual(MESSAGE);
  expect((await read(client)).body).toEqual([MESSAGE]);
});

test('Resources, Chat message: each message has an id of its own', async () => {
  const client = await aClient();
  await postMany(client, 4);
  expect(new Set((await read(client)).body.map(({ id }: { id: string }) => id)).size).toBe(4);
});

test.each(['Hi', 'Größe 😀 你好', 'two\nlines', '"quoted" \\ & <b>'])(
  'Resources, Chat message: parsed is the text that was posted as messageRaw: %j',
  async (messageRaw) => {
    const client = await aClient();
    expectAccepted(await post(client, { messageRaw }));
    expect((await read(client)).body[0].parsed).toBe(messageRaw);
  },
);

test('Endpoints, 8: the answer is a JSON array, empty where nothing was posted', async () => {
  const client = await aClient();
  const answer = await read(client);
  expectAccepted(answer);
  expect(answer.body).toEqual([]);
  expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
});

test.each([
  ['1', 1],
  ['2', 2],
  ['5', 5],
  ['50', 5],
])('Endpoints, 8: pageSize is an integer: of five messages %s gives %i', async (pageSize, count) => {
  const client = await aClient(WITHOUT_RATE);
  await postMany(client, 5);
  const answer = await read(client, `?pageSize=${pageSize}`);
  expectAccepted(answer);
  expect(answer.body).toHaveLength(count);
});

test.each(['1.5', 'ten', '', 'true'])('Endpoints, 8: pageSize is an integer: "%s" is refused', async (pageSize) => {
  const client = await aClient();
  await expectRefused(client, () => read(client, `?pageSize=${pageSize}`));
});

test('Endpoints, 9: a message that was posted appears in the room, in this read and in later ones', async () => {
  const client = await aClient(WITHOUT_RATE);
  await post(client, HI);
  const first = (await read(client)).body;
  await post(client, { messageRaw: 'Hello' });
  const second = (await read(client)).body;
  expect(second).toHaveLength(2);
  expect(second).toEqual(expect.arrayContaining(first));
});

test.each([undefined, 5, null, ['Hi'], { text: 'Hi' }, true])(
  'Endpoints, 9: messageRaw is a string: refused when it is %j',
  async (messageRaw) => {
    const client = await aClient();
    await expectRefused(client, () => post(client, { messageRaw }));
  },
);

test('Endpoints, 9: the body carries content-type application/json, and the answer is JSON too', async () => {
  const client = await aClient();
  const answer = await post(client, HI);
  expectAccepted(answer);
  expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
});

test.each(['text/plain', 'application/x-www-form-urlencoded'])(
  'Endpoints, 9: a body of content-type %s is refused',
  async (contentType) => {
    const client = await aClient();
    await expectRefused(client, () => post(client, HI, { contentType }));
  },
);

test.each([
  ['missing', undefined],
  ['broken JSON', '{"messageRaw":'],
  ['a JSON text', '"Hi"'],
])('Endpoints, 9: a body that is %s is refused', async (_, body) => {
  const client = await aClient();
  await expectRefused(client, () => post(client, body));
});

const CALLS = [
  ['8', (client: Client, key: string | undefined) => read(client, '', { key })],
  ['9', (client: Client, key: string | undefined) => post(client, HI, { key })],
] as const;

test.each(CALLS)(
  'Errors, 1: endpoint %s answers an invalid key with a fault; open point: its status is 401',
  async (_, call) => {
    const client = await aClient();
    const { status, body } = await expectRefused(client, () => call(client, 'who-is-this'));
    const detail = { errorcode: 'oauth.v2.InvalidAccessToken' };
    expect([status, body]).toEqual([
      401,
      { fault: { faultstring: expect.stringMatching(/invalid access token/i), detail } },
    ]);
  },
);

/** How many reads and posts of one second, five together. */
const MIXTURES = [
  [5, 0],
  [0, 5],
  [3, 2],
] as const;

async function askFive(client: Client, [reads, posts]: readonly [number, number]): Promise<void> {
  for (let count = 0; count < reads; count++) expectAccepted(await read(client));
  for (let count = 0; count < posts; count++) expectAccepted(await post(client, HI));
}

test.each(MIXTURES)(
  'Limits: a key has 5 requests per second: after %i reads and %i posts no sixth',
  async (...five) => {
    const client = await aClient({ clock: aClock() });
    await askFive(client, five);
    await expectRefused(client, () => read(client));
    await expectRefused(client, () => post(client, HI));
  },
);

test.each([
  [999, false],
  [1000, true],
])('Limits: 5 requests per second: %i ms after the first five, another is answered: %s', async (delayMs, isTaken) => {
  const clock = aClock();
  const client = await aClient({ clock });
  await askFive(client, [4, 1]);
  clock.advance(delayMs);
  if (isTaken) await askFive(client, [1, 4]);
  else await expectRefused(client, () => post(client, HI));
});

test('Limits: five requests a second are allowed indefinitely', async () => {
  const clock = aClock();
  const client = await aClient({ clock });
  for (let second = 0; second < 5; second++) {
    await askFive(client, [2, 3]);
    clock.advance(1000);
  }
  expect(await client.ledger()).toHaveLength(15);
});

test.each([
  ['/chat/api/chat/v1/messages', true],
  ['/chat/api/chat/v2/messages', false],
  ['/chat/api/chat/messages', false],
  ['/api/chat/v1/messages', false],
])('Versioning: workplace chat has v1 in its path: %s is served: %s', async (path, isServed) => {
  const client = await aClient();
  const headers = { 'x-api-key': client.sandbox.credentials.chatKey };
  const call = () => askWith(client, { method: 'GET', path, headers });
  if (isServed) expectAccepted(await call());
  else await expectRefused(client, call);
});

test.each([
  ['30 messages, when pageSize is left out', '', 30],
  ['as many as pageSize says, also above 30', '?pageSize=35', 35],
])('Open point, Endpoints, 8: of 35 messages a read gives %s', async (_, query, count) => {
  const client = await aClient(WITHOUT_RATE);
  await postMany(client, 35);
  expect((await read(client, query)).body).toHaveLength(count);
});

test.each(['0', '-1'])('Open point, Limits: a pageSize of %s is refused', async (pageSize) => {
  const client = await aClient();
  await expectRefused(client, () => read(client, `?pageSize=${pageSize}`));
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

test('Open point, Endpoints, 9: a post is answered 200 with the message', async () => {
  const client = await aClient();
  const { status, body } = await post(client, HI);
  expect(status).toBe(200);
  expect((await read(client)).body).toEqual([body]);
});

test('Open point, Resources, Chat message: timestamp is in microseconds', async () => {
  const client = await aClient({ clock: aClock() });
  expect((await post(client, HI)).body.timestamp).toBe(NOON * 1000);
});

test('Open point, Limits: what is above 5 requests per second is answered 429 with Retry-After', async () => {
  const client = await aClient({ clock: aClock() });
  await askFive(client, [0, 5]);
  const { status, headers } = await post(client, HI);
  expect([status, headers['retry-after']]).toEqual([429, '1']);
});
