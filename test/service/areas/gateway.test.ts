import { describe, expect, test } from 'vitest';
import {
  createChannel,
  createConversation,
  createWebhook,
  sendMessage,
  updateConversation,
} from '../../../src/service/areas/gateway.js';
import { aResponse, NO_OBJECTS, someAddresses } from '../an-answer.js';

const CHANGE = { conversationId: 'c-1', assignment: { type: 'queue', id: '101' } } as const;
const MESSAGE = { conversationId: 'c-1', text: 'Hello' };
const WEBHOOK = { name: 'events', url: 'https://client.example/events' };
const CHANNEL = { name: 'bot', webhookId: '12', queue: '101' };

const READERS = {
  conversation: (body: unknown) => createConversation.read(aResponse(body, 202), { channelId: '25', user: {} }),
  update: (body: unknown) => updateConversation.read(aResponse(body, 202), CHANGE),
  message: (body: unknown) => sendMessage.read(aResponse(body, 202), MESSAGE),
  webhook: (body: unknown) => createWebhook.read(aResponse(body), WEBHOOK),
  channel: (body: unknown) => createChannel.read(aResponse(body), CHANNEL),
};

describe('an answer', () => {
  const createdAt = '2026-01-30T08:30:00Z';
  test.each<[keyof typeof READERS, unknown, object]>([
    ['conversation', { conversationId: 'c-1', createdAt }, { conversationId: 'c-1', createdAt }],
    ['conversation', { id: 17, createdAt: 'today' }, { conversationId: '17', createdAt: undefined }],
    ['update', undefined, { conversationId: 'c-1', state: undefined }],
    ['update', 'null', { conversationId: 'c-1', state: undefined }],
    ['update', { id: 'c-1', state: 'active' }, { conversationId: 'c-1', state: 'active' }],
    ['update', { conversationId: 'c-1', id: 'other', state: 'idle' }, { conversationId: 'c-1', state: 'idle' }],
    ['message', undefined, { conversationId: 'c-1', messageId: undefined }],
    ['message', ' \r\n', { conversationId: 'c-1', messageId: undefined }],
    ['message', '[]', { conversationId: 'c-1', messageId: undefined }],
    ['message', { id: 'm-1' }, { conversationId: 'c-1', messageId: 'm-1' }],
    ['message', { messageId: 7, conversationId: 'c-1' }, { conversationId: 'c-1', messageId: '7' }],
    ['webhook', { id: '12', name: 'events' }, { webhookId: '12' }],
    ['webhook', { webHookId: 12 }, { webhookId: '12' }],
    ['channel', { id: '25', name: 'bot', webHookId: '12' }, { channelId: '25' }],
    ['channel', { channelId: '25' }, { channelId: '25' }],
  ])('about a %s is read: %j', (about, body, answer) => {
    expect(READERS[about](body)).toEqual(answer);
  });

  const nameless = [...NO_OBJECTS, {}];
  const strays = [{ id: '' }, { id: '12', name: 'someone else’s' }, { id: 5 }, { id: 'c-1', msisdn: '6591000001' }];
  const pages = ['<html>OK</html>', '{'];
  test.each<[keyof typeof READERS, string, readonly unknown[]]>([
    ['conversation', 'without an id', [...nameless, { conversationId: '' }, { conversationId: {} }, { createdAt }]],
    ['update', 'that is a page', pages],
    ['update', 'of another', [{ id: 'c-2' }, { conversationId: 'c-2', id: 'c-1' }]],
    ['message', 'that is a page', pages],
    ['message', 'of another conversation', [{ conversationId: 'c-2' }]],
    ['webhook', 'without an id, or about another thing', [...nameless, ...strays]],
    ['channel', 'without an id, or about another thing', [...nameless, ...strays, { webHookId: '12' }]],
  ])('about a %s %s is none', (about, _, bodies) => {
    for (const body of bodies) expect(READERS[about](body)).toBeUndefined();
  });
});

describe('a call to the gateway', () => {
  const bodyOf = ({ body }: { body: Buffer | undefined }) => JSON.parse(String(body));

  test('omits what is not given, and is refused if it would change nothing', () => {
    expect(bodyOf(createChannel.request(someAddresses(), CHANNEL))).not.toHaveProperty('description');
    expect(bodyOf(updateConversation.request(someAddresses(), CHANGE))).toEqual({ assignment: CHANGE.assignment });
    expect(() => updateConversation.request(someAddresses(), { conversationId: 'c-1' })).toThrow(/it changes nothing/);
  });

  test.each(['..', '.', '', 'a/b', 'a?b', 'a b', '%2e%2e', 'a\\b', 'x'.repeat(201), 'ä'])(
    'to a conversation with the id %j is refused before anything is sent',
    (conversationId) => {
      const refusal = expect.objectContaining({ code: 'bad-input' });
      expect(() => sendMessage.request(someAddresses(), { ...MESSAGE, conversationId })).toThrow(refusal);
      expect(() => updateConversation.request(someAddresses(), { ...CHANGE, conversationId })).toThrow(refusal);
    },
  );
});
