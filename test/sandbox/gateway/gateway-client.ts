import { expect } from 'vitest';
import type { Answered, Asked, Client } from '../sandbox-client.js';

export const VERSION = 'Chat Gateway v1.0';
export const CONVERSATIONS = '/chat-gateway/v1/conversations';

/** Asks the gateway, by default for a conversation. A text or undefined is sent as it stands. */
export function ask(client: Client, body: unknown, asked: Asked = {}): Promise<Answered> {
  const key = client.sandbox.credentials.gatewayKey;
  return client.ask(body, { path: CONVERSATIONS, authorization: undefined, key, ...asked });
}

export function aConversation(more: Record<string, unknown> = {}) {
  return {
    channelId: 'sandbox-channel',
    assignment: { type: 'queue', id: '101' },
    user: { name: 'Ann Lee', phone: '+6590000001' },
    history: { messages: [{ authorType: 'user', text: 'My parcel is lost' }] },
    ...more,
  };
}

export function aWebhook(uri: string, more: Record<string, unknown> = {}) {
  return { name: 'events', uri, version: VERSION, ...more };
}

export function aChannel(webHookId: string, more: Record<string, unknown> = {}) {
  return { name: 'bot', routingOptions: { type: 'queue', id: '100' }, webHookId, type: 'ChatAPI', ...more };
}

/** A channel whose events go to that address. */
export async function openChannel(client: Client, uri: string): Promise<string> {
  const webhook = await ask(client, aWebhook(uri), { path: '/chat-gateway/v1/webhooks' });
  const channel = await ask(client, aChannel(webhook.body.id), { path: '/chat-gateway/v1/channels' });
  return channel.body.id;
}

/** Hands one over and says its id. */
export async function openConversation(client: Client, more: Record<string, unknown> = {}): Promise<string> {
  return (await ask(client, aConversation(more))).body.conversationId;
}

export function update(client: Client, id: string, body: unknown, method: 'PUT' | 'PATCH' = 'PUT'): Promise<Answered> {
  return ask(client, body, { method, path: `${CONVERSATIONS}/${id}` });
}

export function write(client: Client, id: string, body: unknown): Promise<Answered> {
  return ask(client, body, { path: `${CONVERSATIONS}/${id}/messages` });
}

/** Plays the agent. */
export function play(client: Client, id: string, action: 'join' | 'type' | 'message', body?: unknown) {
  const path = `/_sandbox/conversations/${id}/${action}`;
  return client.ask(body, { path, authorization: undefined, contentType: undefined });
}

export function look(client: Client, path: string): Promise<Answered> {
  return client.ask(undefined, { method: 'GET', path: `/_sandbox/${path}`, authorization: undefined });
}

/** The counts, when every event was delivered or given up. */
export async function settle(client: Client) {
  await expect
    .poll(async () => (await look(client, 'webhooks')).body.pending, { interval: 2, timeout: 30_000 })
    .toBe(0);
  return (await look(client, 'webhooks')).body;
}
