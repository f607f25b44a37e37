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
