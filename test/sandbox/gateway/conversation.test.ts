import { expect, test } from 'vitest';
import { aClient, aClock, at } from '../sandbox-client.js';
import { aConversation, ask, CONVERSATIONS, entries, look, openConversation, play, write } from './gateway-client.js';

const message = (number: number) => ({ authorType: number % 2 === 0 ? 'bot' : 'user', text: `message ${number}` });
const messages = (count: number) => Array.from({ length: count }, (_, place) => message(place + 1));
const property = (number: number) => ({ key: `key${number}`, value: `value ${number}` });
const properties = (count: number) => Array.from({ length: count }, (_, place) => property(place + 1));

test('§5 Create conversation: 202 with its id and time, and the ledger shows all that was handed over', async () => {
  const client = await aClient({ clock: aClock() });
  const given = aConversation({
    user: {
      language: 'en',
      name: 'Ann Lee',
      email: 'ann@shop.example',
      phone: '+6590000001',
      additionalProperties: [{ key: 'order', value: '4711' }],
    },
    history: {
      messages: [message(1), message(2), { authorType: 'bot', cards: [{ id: 'c1' }] }],
      somethingElse: true,
    },
  });
  const { status, headers, body } = await ask(client, given);
  expect([status, headers['content-type']]).toEqual([202, 'application/hal+json']);
  expect(body).toEqual({ conversationId: expect.any(String), createdAt: at(0) });
  expect(await entries(client)).toEqual([
    {
      seq: 1,
      at: at(0),
      area: 'gateway',
      request: 1,
      kind: 'conversation',
      conversationId: body.conversationId,
      body: given,
    },
  ]);
});

test('§Conversation: only channel and user are required, and the queue is then the one of the channel', async () => {
  const client = await aClient();
  const { status, body } = await ask(client, { channelId: 'sandbox-channel', user: {} });
  expect(status).toBe(202);
  const conversation = (await look(client, `conversations/${body.conversationId}`)).body;
  expect(conversation).toMatchObject({ state: 'queued', queueId: '100', historyMessages: 0, agent: null });
});

test('§Conversation: history takes 200 messages, additionalProperties 30 entries', async () => {
  const client = await aClient();
  const user = { additionalProperties: properties(30) };
  expect((await ask(client, aConversation({ user, history: { messages: messages(200) } }))).status).toBe(202);
});

const user = (fields: unknown) => ({ user: fields });
const history = (...given: unknown[]) => ({ history: { messages: given } });

test.each([
  ['no channel', { channelId: undefined }, 'invalid_parameter'],
  ['a channel that is no text', { channelId: 25 }, 'invalid_parameter'],
  ['a channel that is not there', { channelId: '25' }, 'invalid_channel'],
  ['a queue that is not there', { assignment: { type: 'queue', id: '112' } }, 'invalid_queue'],
  [
    'a queue named like a member of every object',
    { assignment: { type: 'queue', id: 'constructor' } },
    'invalid_queue',
  ],
  ['an assignment without a type', { assignment: { id: '100' } }, 'invalid_parameter'],
  ['an assignment of another type', { assignment: { type: 'script', id: '100' } }, 'invalid_parameter'],
  ['an assignment whose id is a number', { assignment: { type: 'queue', id: 100 } }, 'invalid_parameter'],
  ['an assignment that is null', { assignment: null }, 'invalid_parameter'],
  ['no user', user(undefined), 'invalid_parameter'],
  ['a user that is no object', user('Ann'), 'invalid_parameter'],
  ['a name that is no text', user({ name: 5 }), 'invalid_parameter'],
  ['a phone that is a number', user({ phone: 6590000001 }), 'invalid_parameter'],
  ['additionalProperties that are no array', user({ additionalProperties: { order: '1' } }), 'invalid_parameter'],
  ['31 additionalProperties', user({ additionalProperties: properties(31) }), 'invalid_parameter'],
  ['an additional property without a value', user({ additionalProperties: [{ key: 'a' }] }), 'invalid_parameter'],
  ['an additional property without a key', user({ additionalProperties: [{ value: 'a' }] }), 'invalid_parameter'],
  [
    'an empty value in the second additional property',
    user({ additionalProperties: [property(1), { key: 'a', value: '' }] }),
    'invalid_parameter',
  ],
  ['a value that is no text', user({ additionalProperties: [{ key: 'a', value: 1 }] }), 'invalid_parameter'],
  ['history without messages', { history: {} }, 'invalid_parameter'],
  ['history that is null', { history: null }, 'invalid_parameter'],
  ['201 messages of history', history(...messages(201)), 'invalid_parameter'],
  ['an author that is an agent', history({ authorType: 'agent', text: 'Hi' }), 'invalid_parameter'],
  ['no author', history({ text: 'Hi' }), 'invalid_parameter'],
  ['a message without text and anything else', history({ authorType: 'user' }), 'invalid_parameter'],
  ['a text that is no text', history({ authorType: 'user', text: 5, cards: [{}] }), 'invalid_parameter'],
  ['a message that is a text', history('Hi'), 'invalid_parameter'],
])('§5 Create conversation: refused with 400 for %s', async (_, more, code) => {
  const client = await aClient();
  const { status, headers, body } = await ask(client, aConversation(more));
  expect([status, headers['content-type']]).toEqual([400, 'application/problem+json']);
  expect(body).toEqual({
    message: expect.any(String),
    errors: [{ code, message: body.message }],
    referenceId: expect.any(String),
  });
  expect(await entries(client)).toEqual([]);
});

test('§5 Create conversation: a refusal names the place in a list', async () => {
  const client = await aClient();
  const bad = user({ additionalProperties: [property(1), { key: 'a' }] });
  expect((await ask(client, aConversation(bad))).body.message).toBe(
    'user.additionalProperties[1] must have both a key and a value',
  );
  expect((await ask(client, aConversation(history(message(1), { authorType: 'x' })))).body.message).toMatch(
    /^history\.messages\[1\]: Invalid authorType=x/,
  );
});

test.each([
  ['no body', undefined, 'application/json'],
  ['broken JSON', '{"channelId":', 'application/json'],
  ['an array', '[]', 'application/json'],
  ['another content type', JSON.stringify(aConversation()), 'text/plain'],
])("§5 Create conversation: %s is refused with 400 in the gateway's own form", async (_, body, contentType) => {
  const client = await aClient();
  const answer = await ask(client, body, { contentType });
  expect([answer.status, answer.body.errors[0].code]).toEqual([400, 'invalid_json_object']);
});

test.each([
  ['no key', undefined],
  ['another key', 'who-is-this'],
])('§Authentication: every operation answers 401 to %s', async (_, key) => {
  const client = await aClient();
  const id = await openConversation(client);
  const calls = [
    { path: '/chat-gateway/v1/webhooks' },
    { path: '/chat-gateway/v1/channels' },
    { path: CONVERSATIONS },
    { path: `${CONVERSATIONS}/${id}`, method: 'PUT' },
    { path: `${CONVERSATIONS}/${id}`, method: 'PATCH' },
    { path: `${CONVERSATIONS}/${id}/messages` },
  ] as const;
  for (const call of calls) {
    const { status, body } = await ask(client, aConversation(), { ...call, key });
    expect([status, body]).toEqual([
      401,
      {
        message: expect.any(String),
        errors: [{ code: 'access_denied', message: expect.any(String) }],
        referenceId: expect.any(String),
      },
    ]);
  }
  expect(await entries(client)).toHaveLength(1);
});

test('§Send a message: 202 without a body, while it is queued and with an agent, and the ledger shows it', async () => {
  const client = await aClient();
  const id = await openConversation(client);
  const first = await write(client, id, { authorType: 'user', text: 'Are you there?' });
  expect([first.status, first.text]).toEqual([202, '']);
  await play(client, id, 'join');
  expect((await write(client, id, { authorType: 'user', text: 'Good' })).status).toBe(202);
  expect((await entries(client)).filter(({ kind }) => kind === 'message')).toMatchObject([
    { request: 2, conversationId: id, body: { authorType: 'user', text: 'Are you there?' } },
    { request: 3, conversationId: id, body: { authorType: 'user', text: 'Good' } },
  ]);
});

test.each([
  ['a bot', { authorType: 'bot', text: 'Hi' }],
  ['nobody', { text: 'Hi' }],
  ['an empty text', { authorType: 'user', text: '' }],
  ['no text', { authorType: 'user' }],
  ['no object', ['Hi']],
])('§Send a message: refused with 400 for %s', async (_, body) => {
  const client = await aClient();
  const id = await openConversation(client);
  expect((await write(client, id, body)).status).toBe(400);
  expect(await entries(client)).toHaveLength(1);
});

test('§Send a message: 404 for a conversation that is not there', async () => {
  const client = await aClient();
  const { status, body } = await write(client, 'nowhere', { authorType: 'user', text: 'Hi' });
  expect([status, body.errors[0].code]).toEqual([404, 'resource_not_found']);
});
