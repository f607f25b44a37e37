import { describe, expect, test } from 'vitest';
import { ENDPOINTS, type GatewayPaths } from '../../../src/domain/service-facts.js';
import type { ServiceAddresses } from '../../../src/job/job.js';
import {
  createChannel,
  createConversation,
  createWebhook,
  sendMessage,
  updateConversation,
} from '../../../src/service/areas/gateway.js';
import { buildRequest } from '../../../src/service/endpoint.js';
import { aResponse, NO_OBJECTS, someAddresses } from '../an-answer.js';

const CHANGE = { conversationId: 'c-1', assignment: { type: 'queue', id: '101' } } as const;
const MESSAGE = { conversationId: 'c-1', text: 'Hello' };
const WEBHOOK = { name: 'events', url: 'https://client.example/events' };
const CHANNEL = { name: 'bot', webhookId: '12', queue: '101' };

const createAnswer = (body: unknown) => createConversation.read(aResponse(body, 202), { channelId: '25', user: {} });
const updateAnswer = (body: unknown) => updateConversation.read(aResponse(body, 202), CHANGE);
const sendAnswer = (body: unknown) => sendMessage.read(aResponse(body, 202), MESSAGE);

describe('the answer to a new conversation', () => {
  test('gives its id, whether text or number, and when it was made', () => {
    const createdAt = '2026-01-30T08:30:00Z';
    expect(createAnswer({ conversationId: 'c-1', createdAt })).toEqual({ conversationId: 'c-1', createdAt });
    expect(createAnswer({ id: 17, createdAt: 'today' })).toEqual({ conversationId: '17', createdAt: undefined });
  });

  test.each([...NO_OBJECTS, {}, { conversationId: '' }, { conversationId: {} }, { createdAt: '2026-01-30T08:30:00Z' }])(
    'is none without an id: %j',
    (body) => expect(createAnswer(body)).toBeUndefined(),
  );
});

describe('the answer to an update', () => {
  test.each([
    [undefined, undefined],
    [{}, undefined],
    [{ id: 'c-1', state: 'active' }, 'active'],
    [{ conversationId: 'c-1', id: 'other', state: 'idle' }, 'idle'],
  ])('may say nothing, or how the conversation stands: %j', (body, state) => {
    expect(updateAnswer(body)).toEqual({ conversationId: 'c-1', state });
  });

  test.each(['<html>OK</html>', '[]', 'null', { id: 'c-2' }, { conversationId: 'c-2', id: 'c-1' }, { id: {} }])(
    'is none when it is a page or about another conversation: %j',
    (body) => expect(updateAnswer(body)).toBeUndefined(),
  );
});

describe('the answer to a message', () => {
  test('may be without a body, or name the message', () => {
    expect(sendAnswer(undefined)).toEqual({ conversationId: 'c-1', messageId: undefined });
    expect(sendAnswer({ id: 'm-1' })).toEqual({ conversationId: 'c-1', messageId: 'm-1' });
    expect(sendAnswer({ messageId: 7, conversationId: 'c-1' })).toEqual({ conversationId: 'c-1', messageId: '7' });
  });

  test.each(['<html>OK</html>', '[]', '"ok"', { conversationId: 'c-2' }])(
    'is none when it is a page or about another conversation: %j',
    (body) => expect(sendAnswer(body)).toBeUndefined(),
  );
});

describe('the answer to a new webhook or channel', () => {
  test('gives its id', () => {
    expect(createWebhook.read(aResponse({ id: '12', name: 'events' }), WEBHOOK)).toEqual({ webhookId: '12' });
    expect(createWebhook.read(aResponse({ webHookId: 12 }), WEBHOOK)).toEqual({ webhookId: '12' });
    expect(createChannel.read(aResponse({ id: '25', name: CHANNEL.name, webHookId: '12' }), CHANNEL)).toEqual({
      channelId: '25',
    });
    expect(createChannel.read(aResponse({ channelId: '25' }), CHANNEL)).toEqual({ channelId: '25' });
  });

  test.each([
    ...NO_OBJECTS,
    {},
    { id: '' },
    { id: '12', name: 'someone else’s' },
    { id: 5 },
    { id: 'c-1', msisdn: '6591000001' },
  ])(
    'is none without an id, about a thing of another name, or about a thing that has none, such as a contact: %j',
    (body) => {
      expect(createWebhook.read(aResponse(body), WEBHOOK)).toBeUndefined();
      expect(createChannel.read(aResponse(body), CHANNEL)).toBeUndefined();
    },
  );

  test('does not take the webhook’s id for the channel’s', () => {
    expect(createChannel.read(aResponse({ webHookId: '12' }), CHANNEL)).toBeUndefined();
  });
});

describe('a call to the gateway', () => {
  test('for a new conversation carries the body byte for byte', () => {
    const body = Buffer.from('{ "channelId":"25", "user":{"name":"Zoë"} }');
    expect(buildRequest(someAddresses(), ENDPOINTS.createConversation, { body }).body).toBe(body);
  });

  test('omits what is not given', () => {
    const bodyOf = (request: { body: Buffer | undefined }) => JSON.parse(String(request.body));
    const service = someAddresses();
    expect(bodyOf(createChannel.request(service, CHANNEL))).not.toHaveProperty('description');
    expect(bodyOf(updateConversation.request(service, { conversationId: 'c', user: { name: 'Zoë' } }))).toEqual({
      user: { name: 'Zoë' },
    });
  });

  test('that would change nothing is refused', () => {
    expect(() => updateConversation.request(someAddresses(), { conversationId: 'c-1' })).toThrow(/it changes nothing/);
  });

  test.each(['..', '.', '', 'a/b', 'a?b', 'a b', '%2e%2e', 'a\\b'])(
    'to a conversation with the id %j is refused before anything is sent',
    (conversationId) => {
      const refusal = expect.objectContaining({ code: 'bad-input' });
      expect(() => sendMessage.request(someAddresses(), { ...MESSAGE, conversationId })).toThrow(refusal);
      expect(() => updateConversation.request(someAddresses(), { ...CHANGE, conversationId })).toThrow(refusal);
    },
  );

  test('goes where the job says, with the id at each of its places', () => {
    const gatewayPaths: GatewayPaths = {
      webhooks: '/hooks',
      channels: '/v2/channels?kind=chat',
      conversation: '/v2/{conversationId}/of/{conversationId}',
      messages: '/v2/say?to={conversationId}',
    };
    const service: ServiceAddresses = someAddresses({ gatewayPaths });
    expect(createWebhook.request(service, WEBHOOK).path).toBe('/hooks');
    expect(createChannel.request(service, CHANNEL).path).toBe('/v2/channels?kind=chat');
    expect(updateConversation.request(service, { ...CHANGE, conversationId: 'a+b' }).path).toBe('/v2/a%2Bb/of/a%2Bb');
    expect(sendMessage.request(service, MESSAGE).path).toBe('/v2/say?to=c-1');
    expect(createConversation.request(service, { channelId: '25', user: {} }).path).toBe(
      '/chat-gateway/v1/conversations',
    );
  });

  test('names its version under both names of the documentation, that of the reference where none is given', () => {
    const bodyOf = (version?: string) =>
      JSON.parse(createWebhook.request(someAddresses(), { ...WEBHOOK, version }).body?.toString() ?? '');
    expect(bodyOf()).toMatchObject({ version: 'Chat Gateway', notificationVersion: 'Chat Gateway' });
    expect(bodyOf('v1.0')).toMatchObject({ version: 'v1.0', notificationVersion: 'v1.0' });
  });
});
