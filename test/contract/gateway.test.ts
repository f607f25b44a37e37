import { expect, test } from 'vitest';
import {
  aChannel,
  aConversation,
  ask,
  CONVERSATIONS,
  look,
  openChannel,
  openConversation,
  settle,
  update,
  write,
} from '../sandbox/gateway/gateway-client.js';
import { type Answered, aClient, aClock, at, type Client, errorOf } from '../sandbox/sandbox-client.js';
import { aReceiver } from '../sandbox/webhook/receiver.js';
import { expectAccepted, expectRefused, NOT_OF_TYPE, setField } from './contract-fields.js';
import {
  A_WEBHOOK,
  agentJoins,
  CHANNEL_FIELDS,
  CONVERSATION_FIELDS,
  CONVERSATION_VALUES,
  TRANSITIONS,
  WEBHOOK_FIELDS,
  WHOLE,
} from './gateway-tables.js';

const WEBHOOKS = { path: '/chat-gateway/v1/webhooks' };
const CHANNELS = { path: '/chat-gateway/v1/channels' };
const HELLO = { authorType: 'user', text: 'Hello' };

test('Resources, Conversation: every field is handed over as it was given', async () => {
  const client = await aClient();
  expectAccepted(await ask(client, WHOLE));
  expect(await client.entries('gateway')).toMatchObject([{ kind: 'conversation', body: WHOLE }]);
});

test.each(CONVERSATION_FIELDS)('Resources, Conversation: %s is %s: refused when it is not', async (field, type) => {
  const client = await aClient();
  for (const value of NOT_OF_TYPE[type]) {
    await expectRefused(client, () => ask(client, setField(WHOLE, field, value)));
  }
});

test.each(CONVERSATION_VALUES)('Resources, Conversation: %s of %j is taken: %s', async (field, value, isAllowed) => {
  const client = await aClient();
  const given = setField(WHOLE, field, value);
  if (!isAllowed) return void (await expectRefused(client, () => ask(client, given)));
  expectAccepted(await ask(client, given));
  expect((await client.entries('gateway'))[0]).toMatchObject({ body: given });
});

test('Resources, Webhook and channel: name, URL, version, description, webhook and queue are kept', async () => {
  const client = await aClient();
  const kept = (rows: typeof WEBHOOK_FIELDS | typeof CHANNEL_FIELDS) =>
    Object.fromEntries(rows.map(([, field, value]) => [field, value]));
  const webhook = await ask(client, A_WEBHOOK, WEBHOOKS);
  expectAccepted(webhook);
  expect(webhook.body).toMatchObject(kept(WEBHOOK_FIELDS));
  expect(await client.entries('gateway')).toMatchObject([{ kind: 'webhook', ...kept(WEBHOOK_FIELDS) }]);
  const channel = await ask(client, aChannel('1001', kept(CHANNEL_FIELDS)), CHANNELS);
  expectAccepted(channel);
  expect(channel.body).toMatchObject(kept(CHANNEL_FIELDS));
});

test.each([
  ...WEBHOOK_FIELDS.map((row) => ['Webhook', ...row] as const),
  ...CHANNEL_FIELDS.map((row) => ['Channel', ...row] as const),
])(
  'Resources, %s: %s, on the wire %s, is a value such as %j, and no other is taken',
  async (what, _, field, __, wrong) => {
    const client = await aClient();
    await ask(client, A_WEBHOOK, WEBHOOKS);
    for (const value of wrong) {
      const [whole, path] = what === 'Webhook' ? [A_WEBHOOK, WEBHOOKS] : [aChannel('1001'), CHANNELS];
      await expectRefused(client, () => ask(client, { ...whole, [field]: value }, path));
    }
  },
);

test.each([
  ['the default queue of its channel', '102', undefined],
  ['the queue that it names itself', '101', { type: 'queue', id: '101' }],
])('Resources, Channel: a conversation is routed to %s', async (_, queueId, assignment) => {
  const client = await aClient();
  const channel = await createChannel(client, { routingOptions: { type: 'queue', id: '102' } });
  const id = await openConversation(client, { channelId: channel.body.id, assignment });
  expect((await look(client, `conversations/${id}`)).body.queueId).toBe(queueId);
});

test('States, Conversation: none, creation → queued, event QUEUED', async () => {
  const { client, id, told } = await aTold();
  expect(await stateOf(client, id)).toBe('queued');
  expect(await told()).toEqual(['QUEUED']);
});

test('States, Conversation: none, creation that is not valid → none, no event', async () => {
  const { client, channelId, told } = await aTold();
  await expectRefused(client, () => ask(client, aConversation({ channelId, assignment: { type: 'queue' } })));
  expect((await look(client, 'conversations')).body).toHaveLength(1);
  expect(await told()).toEqual(['QUEUED']);
});

test.each(
  TRANSITIONS.map((transition) => {
    const { from, trigger, to, event } = transition;
    return [from, trigger, to, event, transition] as const;
  }),
)('States, Conversation: %s, %s → %s, event %s', async (from, _, to, event, { before, act }) => {
  const { client, id, told } = await aTold();
  for (const earlier of before) expectAccepted(await earlier(client, id));
  expect(await stateOf(client, id)).toBe(from);
  const earlier = await told();
  expectAccepted(await act(client, id));
  expect(await stateOf(client, id)).toBe(to);
  expect(await told()).toEqual(event === 'none' ? earlier : [...earlier, event]);
});

test.each([
  ['its queue', { assignment: { type: 'queue', id: '102' } }, { queueId: '102' }],
  ['its user', { user: { name: 'Anna' } }, { user: { name: 'Anna' } }],
])('States, Conversation: %s may be changed while it is queued, and not with an agent', async (_, change, changed) => {
  const { client, id } = await aTold();
  expectAccepted(await update(client, id, change));
  expect((await look(client, `conversations/${id}`)).body).toMatchObject(changed);
  await agentJoins(client, id);
  const before = (await look(client, `conversations/${id}`)).body;
  await expectRefused(client, () => update(client, id, { ...change, user: { name: 'Bea' } }));
  expect((await look(client, `conversations/${id}`)).body).toEqual(before);
});

test.each([
  ['POST', '/chat-gateway/v1/conversations', true],
  ['GET', '/chat-gateway/v1/conversations', false],
  ['PUT', '/chat-gateway/v1/conversations', false],
  ['POST', '/chat-gateway/v1/conversation', false],
  ['POST', '/chat-gateway/v2/conversations', false],
  ['POST', '/chat-gateway/conversations', false],
] as const)(
  'Endpoints, 5, and Versioning: a conversation is created by %s of %s: %s',
  async (method, path, isRight) => {
    const client = await aClient();
    const call = () => ask(client, method === 'GET' ? undefined : aConversation(), { method, path });
    if (isRight) expectAccepted(await call());
    else await expectRefused(client, call);
  },
);

test('Endpoints, 5: asked to accept application/hal+json, it answers so', async () => {
  const client = await aClient();
  expect((await ask(client, aConversation())).headers['content-type']).toBe('application/hal+json');
});

test.each([
  ['left out', undefined],
  ['one that no one created', '2999'],
])('Endpoints, 5: the id of a channel created earlier is needed: refused when it is %s', async (_, channelId) => {
  const client = await aClient();
  await expectRefused(client, () => ask(client, aConversation({ channelId })));
});

test.each([
  ['creates a webhook: 200', 'POST', '/chat-gateway/v1/webhooks', A_WEBHOOK, 200],
  ['creates a channel: 200', 'POST', '/chat-gateway/v1/channels', aChannel('1001'), 200],
  ['creates a conversation: 202', 'POST', CONVERSATIONS, aConversation(), 202],
  ['updates a conversation: 202', 'PUT', `${CONVERSATIONS}/{id}`, { user: {} }, 202],
  ['updates a conversation: 202', 'PATCH', `${CONVERSATIONS}/{id}`, { user: {} }, 202],
  ['sends a message: 202', 'POST', `${CONVERSATIONS}/{id}/messages`, HELLO, 202],
] as const)('Open point, Endpoints: this %s, by %s of %s', async (_, method, path, body, status) => {
  const { client, id } = await aTold();
  expect((await ask(client, body, { method, path: path.replace('{id}', id) })).status).toBe(status);
});

test('Open point, Resources, Channel: type is ChatAPI, also where it is not given, and never another', async () => {
  const client = await aClient();
  expect((await createChannel(client, { type: undefined })).body.type).toBe('ChatAPI');
  await expectRefused(client, () => ask(client, aChannel('1001', { type: 'WhatsApp' }), CHANNELS));
});

test('Open point, Endpoints, 5: the answer has conversationId and createdAt, and nothing else', async () => {
  const client = await aClient({ clock: aClock() });
  const { body } = await ask(client, aConversation());
  expect(body).toEqual({ conversationId: expect.stringMatching(/./), createdAt: at(0) });
});

test('Endpoints, Send a message: authorType is user, and text a text', async () => {
  const { client, id } = await aTold();
  for (const wrong of [
    { authorType: 'bot' },
    { authorType: 'agent' },
    { authorType: undefined },
    { text: undefined },
    { text: 5 },
  ]) {
    await expectRefused(client, () => write(client, id, { ...HELLO, ...wrong }));
  }
});

const MESSAGES = Array.from({ length: 201 }, () => ({ authorType: 'user', text: 'Hi' }));
const PROPERTIES = Array.from({ length: 31 }, (_, place) => ({ key: `key${place}`, value: 'value' }));

test.each([
  ['history takes 200 messages', 'history.messages', MESSAGES.slice(1), true],
  ['history takes no 201 messages', 'history.messages', MESSAGES, false],
  ['additionalProperties takes 30 entries', 'user.additionalProperties', PROPERTIES.slice(1), true],
  ['additionalProperties takes no 31 entries', 'user.additionalProperties', PROPERTIES, false],
] as const)('Open point, Limits, Conversation: %s', async (_, field, value, isTaken) => {
  const client = await aClient();
  const call = () => ask(client, setField(WHOLE, field, value));
  if (isTaken) expectAccepted(await call());
  else await expectRefused(client, call);
});

test('Limits, Chat gateway: no rate is shown, and 50 conversations at once are taken', async () => {
  const client = await aClient();
  for (const answer of await Promise.all(MESSAGES.slice(0, 50).map(() => ask(client, aConversation())))) {
    expectAccepted(answer);
  }
});

test.each([
  ['400', 'POST', CONVERSATIONS, {}],
  ['404', 'PATCH', `${CONVERSATIONS}/nowhere`, { user: {} }],
  ['404', 'POST', `${CONVERSATIONS}/nowhere/messages`, HELLO],
] as const)('Open point, Errors, Chat gateway: %s to %s of %s has message, errors and referenceId', async (...row) => {
  const [status, method, path, given] = row;
  const client = await aClient();
  const answer = await expectRefused(client, () => ask(client, given, { method, path }));
  expect([String(answer.status), answer.body]).toEqual([status, errorOf('gateway')]);
});

async function createChannel(client: Client, more: Record<string, unknown>): Promise<Answered> {
  await ask(client, A_WEBHOOK, WEBHOOKS);
  return ask(client, aChannel('1001', more), CHANNELS);
}

/** A queued conversation whose events go to a webhook; `told` waits for them and says their types. */
async function aTold() {
  const receiver = await aReceiver();
  const client = await aClient();
  const channelId = await openChannel(client, receiver.url());
  const id = await openConversation(client, { channelId });
  const told = async () => {
    await settle(client);
    return receiver.received.map(({ body }) => body.eventType as string);
  };
  return { client, channelId, id, told };
}

async function stateOf(client: Client, id: string): Promise<string> {
  return (await look(client, `conversations/${id}`)).body.state;
}
