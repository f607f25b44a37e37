import { expect, test } from 'vitest';
import { aClient, aClock, at } from '../sandbox-client.js';
import { aConversation, ask, entries, look, openConversation, play, write } from './gateway-client.js';

test('an agent who joins takes the conversation from queued to with agent', async () => {
  const client = await aClient({ clock: aClock() });
  const id = await openConversation(client);
  expect((await look(client, `conversations/${id}`)).body.state).toBe('queued');
  const { status, body } = await play(client, id, 'join', { agentId: 'a7', agentName: 'Kim' });
  expect([status, body.state, body.agent]).toEqual([200, 'with agent', { id: 'a7', name: 'Kim' }]);
  expect((await entries(client))[1]).toEqual({
    seq: 2,
    at: at(0),
    area: 'gateway',
    request: 0,
    kind: 'agent-joined',
    conversationId: id,
    agentId: 'a7',
    agentName: 'Kim',
  });
});

test('GET /_sandbox/conversations/{id} shows what was said since the hand-off', async () => {
  const client = await aClient({ clock: aClock() });
  const id = await openConversation(client);
  await write(client, id, { authorType: 'user', text: 'Hello?' });
  await play(client, id, 'join');
  await play(client, id, 'type');
  const { body } = await play(client, id, 'message', { text: 'Hi' });
  expect(body).toEqual({
    conversationId: id,
    channelId: 'sandbox-channel',
    createdAt: at(0),
    state: 'with agent',
    queueId: '101',
    user: { name: 'Ann Lee', phone: '+6590000001' },
    historyMessages: 1,
    agent: { id: expect.any(String), name: expect.any(String) },
    messages: [
      { authorType: 'user', text: 'Hello?', at: at(0) },
      { authorType: 'agent', text: 'Hi', at: at(0) },
    ],
  });
  expect((await look(client, `conversations/${id}`)).body).toEqual(body);
});

test('GET /_sandbox/conversations/{id} has the time of the answer and of the ledger, on a running clock', async () => {
  const clock = aClock();
  // Every look at it takes a second.
  const now = () => {
    clock.advance(1000);
    return clock.now();
  };
  const client = await aClient({ clock: { ...clock, now } });
  const { body } = await ask(client, aConversation());
  const shown = (await look(client, `conversations/${body.conversationId}`)).body;
  expect([shown.createdAt, (await entries(client))[0]?.at]).toEqual([body.createdAt, body.createdAt]);
});

test('GET /_sandbox/conversations lists all of them with their states', async () => {
  const client = await aClient();
  const ids = [await openConversation(client), await openConversation(client)];
  await play(client, ids[1] ?? '', 'join');
  expect((await look(client, 'conversations')).body).toMatchObject([
    { conversationId: ids[0], state: 'queued', queueId: '101', messages: 0 },
    { conversationId: ids[1], state: 'with agent' },
  ]);
});

test.each([
  ['a second agent', 'join', undefined, true, 409],
  ['typing before an agent is there', 'type', undefined, false, 409],
  ['writing before an agent is there', 'message', { text: 'Hi' }, false, 409],
  ['writing nothing', 'message', {}, true, 400],
  ['an agent whose id is no text', 'join', { agentId: 7 }, false, 400],
] as const)('an agent is refused: %s', async (_, action, body, isJoined, status) => {
  const client = await aClient();
  const id = await openConversation(client);
  if (isJoined) await play(client, id, 'join');
  expect((await play(client, id, action, body)).status).toBe(status);
  expect(await entries(client)).toHaveLength(isJoined ? 2 : 1);
});

test('of two agents who join at once one is refused', async () => {
  const client = await aClient();
  const id = await openConversation(client);
  const answers = await Promise.all([play(client, id, 'join'), play(client, id, 'join')]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
});

test.each(['join', 'type', 'message'] as const)(
  'an agent can not %s where there is no conversation',
  async (action) => {
    const client = await aClient();
    expect((await play(client, 'nowhere', action, { text: 'Hi' })).status).toBe(404);
    expect((await look(client, 'conversations/nowhere')).status).toBe(404);
  },
);
