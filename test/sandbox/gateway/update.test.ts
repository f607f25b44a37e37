import { expect, test } from 'vitest';
import { aClient } from '../sandbox-client.js';
import { entries, look, openConversation, play, update } from './gateway-client.js';

const ANN = { name: 'Ann Lee', phone: '+6590000001' };

test.each(['PUT', 'PATCH'] as const)(
  '§Update conversation: %s changes the queue of a queued conversation: 202 with the conversation',
  async (method) => {
    const client = await aClient();
    const id = await openConversation(client);
    const given = { assignment: { type: 'queue', id: '102' } };
    const { status, body } = await update(client, id, given, method);
    expect(status).toBe(202);
    expect(body).toEqual({ id, channelId: 'sandbox-channel', ...given, user: ANN, state: 'active' });
    expect((await look(client, `conversations/${id}`)).body).toMatchObject({ state: 'queued', queueId: '102' });
    expect((await entries(client))[1]).toMatchObject({
      request: 2,
      kind: 'update',
      conversationId: id,
      method,
      body: given,
    });
  },
);

test('§Update conversation: PUT puts the user in the place of the old one, PATCH changes the fields that it names', async () => {
  const client = await aClient();
  const id = await openConversation(client);
  const patched = await update(client, id, { user: { email: 'ann@shop.example' } }, 'PATCH');
  expect(patched.body.user).toEqual({ ...ANN, email: 'ann@shop.example' });
  const put = await update(client, id, { channelId: 'sandbox-channel', user: { name: 'Anna' } });
  expect(put.body.user).toEqual({ name: 'Anna' });
  expect(put.body.assignment).toEqual({ type: 'queue', id: '101' });
});

test.each(['PUT', 'PATCH'] as const)(
  '§Update conversation: %s is refused with 409 once an agent is there, and changes nothing',
  async (method) => {
    const client = await aClient();
    const id = await openConversation(client);
    await play(client, id, 'join');
    const { status, body } = await update(client, id, { assignment: { type: 'queue', id: '102' } }, method);
    expect([status, body.errors[0].code]).toEqual([409, 'conversation_not_queued']);
    expect((await look(client, `conversations/${id}`)).body.queueId).toBe('101');
    expect((await entries(client)).map(({ kind }) => kind)).toEqual(['conversation', 'agent-joined']);
  },
);

test.each([
  ['nothing to change', {}],
  ['another channel', { channelId: '2001', user: {} }],
  ['a queue that is not there', { assignment: { type: 'queue', id: '112' } }],
  ['an assignment of another type', { assignment: { type: 'agent', id: '100' } }],
  ['a user that is null', { user: null }],
  ['an additional property without a value', { user: { additionalProperties: [{ key: 'a' }] } }],
  ['no object', 'null'],
])('§Update conversation: refused with 400 for %s', async (_, body) => {
  const client = await aClient();
  const id = await openConversation(client);
  expect((await update(client, id, body)).status).toBe(400);
  expect((await update(client, id, body, 'PATCH')).status).toBe(400);
  expect(await entries(client)).toHaveLength(1);
});

test('§Update conversation: 404 for a conversation that is not there', async () => {
  const client = await aClient();
  expect((await update(client, 'nowhere', { user: {} })).status).toBe(404);
});
