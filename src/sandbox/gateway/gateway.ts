import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { defineRoute, type Fields, type Handled, type Route, type SandboxArea, type WrittenRoute } from '../area.js';
import type { ErrorForm, RefusedRequest } from '../http-answer.js';
import type { WebhookSender } from '../webhook/sender.js';
import {
  buildEvent,
  CHECK,
  type ChangeRow,
  type Conversation,
  type CreationRow,
  EVENT,
  type GatewayRow,
  makeChange,
  openConversation,
  QUEUES,
} from './conversation.js';
import {
  agentMessageSchema,
  channelSchema,
  conversationSchema,
  joinSchema,
  messageSchema,
  updateSchema,
  webhookSchema,
} from './gateway-bodies.js';

const BASE = '/chat-gateway/v1';
const CONVERSATION = `${BASE}/conversations/:conversationId`;
/** Where agents are played. */
const CONTROL = '/_sandbox/conversations';
const FIRST_WEBHOOK_ID = 1001;
const FIRST_CHANNEL_ID = 2001;

/** Chat gateway: hands a customer's conversation over to a queue; agents are played through `/_sandbox/conversations`. */
export function createGatewayArea(newId: () => string): SandboxArea {
  const uriOfWebhook = new Map<string, string>();
  /** The default queue of its conversations, and where their events go: null for the channel without a webhook. */
  const channels = new Map<string, { readonly queueId: string; readonly uri: string | null }>();
  const conversations = new Map<string, Conversation>();

  const clear = () => {
    for (const state of [uriOfWebhook, channels, conversations]) state.clear();
    // Exists from the start, without a webhook, so that a conversation needs no setup.
    channels.set('sandbox-channel', { queueId: '100', uri: null });
  };
  clear();

  const tell = (webhooks: WebhookSender, { conversationId, channelId }: Conversation, event: object) => {
    const url = channels.get(channelId)?.uri ?? null;
    if (url !== null) webhooks.send(EVENT, url, { id: newId(), event }, conversationId);
  };

  const accept = (row: CreationRow | ChangeRow, after: Conversation, at: number, answer: Handled): Handled => {
    const event = buildEvent(row, after, at);
    return { ...answer, entries: [row], ...(event && { posts: (webhooks) => tell(webhooks, after, event) }) };
  };

  const about = <Schema extends z.ZodType>({ handle, ...route }: WrittenRoute<Schema, [Conversation]>): Route =>
    defineRoute<Schema>({
      ...route,
      handle: (call) => {
        const { conversationId = '' } = call.params;
        const conversation = conversations.get(conversationId);
        if (conversation !== undefined) return handle(conversation, call);
        const message =
          route.who === 'anyone'
            ? `There is no conversation ${conversationId}`
            : `Entity of type Conversation with id ${conversationId} was not found.`;
        return { status: 404, message };
      },
    });

  const update = (method: 'PUT' | 'PATCH') =>
    about({
      method,
      path: CONVERSATION,
      who: 'gatewayKey',
      schema: updateSchema,
      recipients: readPhone,
      handle: (conversation, { at, body }) => {
        const { conversationId, channelId, state } = conversation;
        if (body.channelId !== undefined && body.channelId !== channelId) {
          return { status: 400, message: "channelId can't be changed" };
        }
        if (!isQueue(body.assignment?.id)) return refuseQueue(body.assignment?.id);
        if (state !== 'queued') return WITH_AGENT;
        const row: ChangeRow = { kind: 'update', conversationId, method, body };
        const after = makeChange(conversation, row, toTime(at));
        return accept(row, after, at, hal(202, toResult(after)));
      },
    });

  /** What an agent does is answered with the conversation as it then stands. */
  const played = (conversation: Conversation, row: ChangeRow, at: number): Handled => {
    const after = makeChange(conversation, row, toTime(at));
    return accept(row, after, at, { status: 200, body: after });
  };

  return {
    name: 'gateway',
    errors: GATEWAY_ERRORS,
    routes: [
      defineRoute({
        method: 'POST',
        path: `${BASE}/webhooks`,
        who: 'gatewayKey',
        schema: webhookSchema,
        handle: ({ body: webhook }) => {
          const webhookId = String(FIRST_WEBHOOK_ID + uriOfWebhook.size);
          const row: GatewayRow = { kind: 'webhook', webhookId, ...webhook };
          const event = { notificationVersion: webhook.version, eventType: 'WEB_HOOK_VERIFY' };
          return {
            ...hal(200, { id: webhookId, ...webhook }),
            entries: [row],
            posts: (webhooks) => webhooks.send(CHECK, webhook.uri, { id: newId(), event }),
          };
        },
      }),
      defineRoute({
        method: 'POST',
        path: `${BASE}/channels`,
        who: 'gatewayKey',
        schema: channelSchema,
        handle: ({ body: { name, description, type, webHookId: webhookId, routingOptions } }) => {
          if (!uriOfWebhook.has(webhookId)) {
            return { status: 400, code: 'invalid_webhook', message: `Webhook ID ${webhookId} is invalid.` };
          }
          const { id: queueId } = routingOptions;
          if (!isQueue(queueId)) return refuseQueue(queueId);
          // The sandbox's own does not count.
          const channelId = String(FIRST_CHANNEL_ID + channels.size - 1);
          const row: GatewayRow = { kind: 'channel', channelId, name, description, queueId, webhookId };
          const described = description === null ? {} : { description };
          const made = { id: channelId, name, ...described, type, webHookId: webhookId };
          return { ...hal(200, { ...made, routingOptions: { type: 'queue', id: queueId } }), entries: [row] };
        },
      }),
      defineRoute({
        method: 'POST',
        path: `${BASE}/conversations`,
        who: 'gatewayKey',
        schema: conversationSchema,
        recipients: readPhone,
        handle: ({ at, body }) => {
          const channel = channels.get(body.channelId);
          if (channel === undefined) {
            return { status: 400, code: 'invalid_channel', message: `Channel ID ${body.channelId} is invalid.` };
          }
          if (!isQueue(body.assignment?.id)) return refuseQueue(body.assignment?.id);
          const row: CreationRow = { kind: 'conversation', conversationId: newId(), body };
          const after = openConversation(row, channel.queueId, toTime(at));
          const { conversationId, createdAt } = after;
          return accept(row, after, at, hal(202, { conversationId, createdAt }));
        },
      }),
      about({
        method: 'GET',
        path: CONVERSATION,
        who: 'gatewayKey',
        handle: (conversation) => hal(200, toResult(conversation)),
      }),
      update('PUT'),
      update('PATCH'),
      about({
        method: 'POST',
        path: `${CONVERSATION}/messages`,
        who: 'gatewayKey',
        schema: messageSchema,
        recipients: readPhone,
        handle: (conversation, { at, body }) => {
          const row: ChangeRow = { kind: 'message', conversationId: conversation.conversationId, body };
          return accept(row, makeChange(conversation, row, toTime(at)), at, { status: 202 });
        },
      }),
      defineRoute({
        method: 'GET',
        path: CONTROL,
        who: 'anyone',
        handle: () => {
          const all = [...conversations.values()];
          return {
            status: 200,
            body: all.map(({ user: _, messages, ...rest }) => ({ ...rest, messages: messages.length })),
          };
        },
      }),
      about({
        method: 'GET',
        path: `${CONTROL}/:conversationId`,
        who: 'anyone',
        handle: (conversation) => ({
          status: 200,
          body: conversation,
        }),
      }),
      about({
        method: 'POST',
        path: `${CONTROL}/:conversationId/join`,
        who: 'anyone',
        schema: joinSchema,
        handle: (conversation, { at, body }) => {
          const { conversationId, state } = conversation;
          if (state !== 'queued') return { status: 409, message: 'Cannot join: an agent is there already' };
          return played(conversation, { kind: 'agent-joined', conversationId, ...body }, at);
        },
      }),
      // Typing changes nothing, so it is in no ledger.
      about({
        method: 'POST',
        path: `${CONTROL}/:conversationId/type`,
        who: 'anyone',
        handle: (conversation, { at: timestamp }) => {
          const { conversationId, agent } = conversation;
          if (agent === null) return { status: 409, message: 'Cannot type: no agent has joined' };
          const data = { name: 'typing', value: { users: [{ type: 'agent', id: agent.id }] } };
          const event = { eventType: 'ACTIVITY', conversationId, timestamp, data };
          return { status: 200, body: conversation, posts: (webhooks) => tell(webhooks, conversation, event) };
        },
      }),
      about({
        method: 'POST',
        path: `${CONTROL}/:conversationId/message`,
        who: 'anyone',
        schema: agentMessageSchema,
        handle: (conversation, { at, body: { text } }) => {
          const { conversationId, agent } = conversation;
          if (agent === null) return { status: 409, message: 'Cannot write: no agent has joined' };
          return played(conversation, { kind: 'agent-message', conversationId, text }, at);
        },
      }),
    ],
    apply: (row: GatewayRow, at) => {
      if (row.kind === 'webhook') uriOfWebhook.set(row.webhookId, row.uri);
      else if (row.kind === 'channel') {
        channels.set(row.channelId, { queueId: row.queueId, uri: uriOfWebhook.get(row.webhookId) ?? null });
      } else if (row.kind === 'conversation') {
        const queueId = channels.get(row.body.channelId as string)?.queueId ?? '';
        conversations.set(row.conversationId, openConversation(row, queueId, at));
      } else {
        const conversation = conversations.get(row.conversationId);
        if (conversation !== undefined) conversations.set(row.conversationId, makeChange(conversation, row, at));
      }
    },
    clear,
  };
}

/** Codes and texts as the service's documentation has them, where it has one. */
const GATEWAY_ERRORS: ErrorForm = {
  contentType: 'application/problem+json',
  statuses: {
    400: { code: 'invalid_parameter', message: 'Invalid parameter.' },
    401: { code: 'access_denied', message: 'Access Denied' },
    403: { code: 'forbidden', message: 'The tenant does not belong to customer.' },
    404: { code: 'resource_not_found', message: 'Resource not found' },
    413: { code: 'request_too_large', message: 'Request body is too large' },
    500: { code: 'internal_error', message: 'Internal error.' },
  },
  body: (code, message) => ({ message, errors: [{ code, message }], referenceId: randomUUID() }),
};

const WITH_AGENT: RefusedRequest = {
  status: 409,
  code: 'conversation_not_queued',
  message: "The conversation is with an agent and can't be changed.",
};

function isQueue(queueId: string | undefined): boolean {
  return queueId === undefined || Object.hasOwn(QUEUES, queueId);
}

function refuseQueue(queueId: string | undefined): RefusedRequest {
  return { status: 400, code: 'invalid_queue', message: `Queue ID ${queueId} is invalid.` };
}

/** The customer's number, by which a fault can choose; '' where there is none. */
function readPhone(body: unknown): readonly string[] {
  const phone = (body as { user?: { phone?: unknown } } | null | undefined)?.user?.phone;
  return [typeof phone === 'string' ? phone : ''];
}

function hal(status: number, body: Fields) {
  return { status, body, headers: { 'content-type': 'application/hal+json' } };
}

function toTime(at: number): string {
  return new Date(at).toISOString();
}

/** A conversation as the service's documentation shows it. */
function toResult({ conversationId, channelId, queueId, user }: Conversation): Fields {
  return { id: conversationId, channelId, assignment: { type: 'queue', id: queueId }, user, state: 'active' };
}
