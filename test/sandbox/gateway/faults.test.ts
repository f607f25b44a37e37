import { expect, test } from 'vitest';
import { aClient } from '../sandbox-client.js';
import { aConversation, ask, aWebhook, entries, openConversation, update } from './gateway-client.js';

test('partial leaves the id out of a conversation that was accepted', async () => {
  const client = await aClient({}, { kind: 'partial', area: 'gateway' });
  const { status, body } = await ask(client, aConversation());
  expect([status, Object.keys(body)]).toEqual([202, ['createdAt']]);
  expect(await entries(client)).toHaveLength(1);
});

test('foreign gives the body of the earlier conversation, or of none', async () => {
  const client = await aClient({}, { kind: 'foreign', area: 'gateway' });
  await ask(client, aConversation());
  const foreign = await ask(client, aConversation());
  const [first, second] = await entries(client);
  expect(foreign.body.conversationId).toBe(first?.kind === 'conversation' ? first.conversationId : '');
  expect(first).not.toMatchObject({ conversationId: second?.kind === 'conversation' ? second.conversationId : '' });
});

test('partial and foreign change the answers of webhooks and updates too', async () => {
  const client = await aClient();
  const id = await openConversation(client);
  const webhook = () => ask(client, aWebhook('https://bot.example/'), { path: '/chat-gateway/v1/webhooks' });
  client.sandbox.setFaults([{ kind: 'partial' }]);
  expect((await webhook()).body.id).toBeUndefined();
  expect((await update(client, id, { user: {} })).body.id).toBeUndefined();
  client.sandbox.setFaults([{ kind: 'foreign' }]);
  expect((await webhook()).body.id).toBe('1001');
});

test('reject-rows refuses a conversation by the number of its customer, in the form of the gateway', async () => {
  const client = await aClient({}, { kind: 'reject-rows', endingWith: '0001', description: 'No' });
  const refused = await ask(client, aConversation());
  expect([refused.status, refused.body.errors]).toEqual([400, [{ code: 'invalid_parameter', message: 'No' }]]);
  expect((await ask(client, aConversation({ user: { phone: '+6590000002' } }))).status).toBe(202);
  expect((await ask(client, aConversation({ user: {} }))).status).toBe(202);
});

test('internal-rows refuses a conversation with 500, and the ledger stays empty', async () => {
  const client = await aClient({}, { kind: 'internal-rows' });
  expect((await ask(client, aConversation())).status).toBe(500);
  expect(await entries(client)).toEqual([]);
});

test.each([400, 401, 403, 404, 500] as const)('status-%i has the form of the gateway', async (status) => {
  const client = await aClient({}, { kind: `status-${status}`, area: 'gateway' });
  const answer = await ask(client, aConversation());
  expect(answer.status).toBe(status);
  expect(answer.body).toEqual({
    message: expect.any(String),
    errors: [{ code: expect.any(String), message: answer.body.message }],
    referenceId: expect.any(String),
  });
});

test('reset-after loses the answer of a conversation that was accepted', async () => {
  const client = await aClient({}, { kind: 'reset-after', area: 'gateway' });
  await expect(ask(client, aConversation())).rejects.toThrow();
  expect(await entries(client)).toHaveLength(1);
});
