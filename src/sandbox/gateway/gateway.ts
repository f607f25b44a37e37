import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { Who } from '../admission.js';
import {
  type Address,
  type AreaCall,
  defineRoute,
  type Fields,
  type Handled,
  numberAt,
  type SandboxArea,
  type WrittenRoute,
} from '../area.js';
import type { ErrorForm, RefusedRequest } from '../http-answer.js';
import type { WebhookSender } from '../webhook-sender.js';
import {
  agentMessageSchema,
  CHECK,
  type Conversation,
  type ConversationRow,
  channelSchema,
  conversationSchema,
  EVENT,
  type GatewayRow,
  joinSchema,
  messageSchema,
  QUEUES,
  updateSchema,
  webhookSchema,
} from './gateway-bodies.js';

const BASE = '/chat-gateway/v1';
const CONVERSATION = `${BASE}/conversations/:conversationId`;
/** Where agents are played. */
const CONTROL = '/_sandbox/conversations';
/** A body that is no object has a code of its own. */
const NO_OBJECT = { '': 'invalid_json_object' };
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

  const tell =
    ({ conversationId, channelId }: Conversation, at: number, event: object) =>
    (webhooks: WebhookSender) => {
      const url = channels.get(channelId)?.uri ?? null;
      const whole = { conversationId, timestamp: at, ...event };
      if (url !== null) webhooks.send(EVENT, url, { id: newId(), event: whole }, conversationId);
    };

  /** The conversation stands so from then on, and the client application hears of it where there is an event. */
  const accept = (
    { at, body }: AreaCall<Fields>,
    conversation: Conversation,
    { kind, event, ...answer }: Handled & { kind: ConversationRow['kind']; event?: object },
  ): Handled => ({
    ...answer,
    entries: [{ kind, conversationId: conversation.conversationId, body, conversation }],
    ...(event && { posts: tell(conversation, at, event) }),
  });

  const about = <Schema extends z.ZodType>(address: Address, who: Who, written: WrittenRoute<Schema, [Conversation]>) =>
    defineRoute<Schema>(address, who, {
      ...written,
      handle: (call) => {
        const { conversationId = '' } = call.params;
        const conversation = conversations.get(conversationId);
        if (conversation !== undefined) return written.handle(conversation, call);
        const message =
          who === 'anyone'
            ? `There is no conversation ${conversationId}`
            : `Entity of type Conversation with id ${conversationId} was not found.`;
        return { status: 404, message };
      },
    });

  const update = (method: 'PUT' | 'PATCH') =>
    about(`${method} ${CONVERSATION}`, 'gatewayKey', {
      schema: updateSchema,
      codes: NO_OBJECT,
      recipients: numberAt('user', 'phone'),
      handle: (conversation, call) => {
        const { body } = call;
        const { channelId, state, user, queueId } = conversation;
        if (body.channelId !== undefined && body.channelId !== channelId) {
          return { status: 400, message: "channelId can't be changed" };
        }
        if (!isQueue(body.assignment?.id)) return refuseQueue(body.assignment?.id);
        if (state !== 'queued') return WITH_AGENT;
        const after = {
          ...conversation,
          // PUT replaces the user, PATCH only the fields that it names.
          user: method === 'PUT' ? (body.user ?? user) : { ...user, ...body.user },
          queueId: body.assignment?.id ?? queueId,
        };
        return accept(call, after, { kind: 'update', ...hal(202, toResult(after)) });
      },
    });

  return {
    name: 'gateway',
    errors: GATEWAY_ERRORS,
    routes: [
      defineRoute(`POST ${BASE}/webhooks`, 'gatewayKey', {
        schema: webhookSchema,
        codes: NO_OBJECT,
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
      defineRoute(`POST ${BASE}/channels`, 'gatewayKey', {
        schema: channelSchema,
        codes: NO_OBJECT,
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
      defineRoute(`POST ${BASE}/conversations`, 'gatewayKey', {
        schema: conversationSchema,
        codes: NO_OBJECT,
        recipients: numberAt('user', 'phone'),
        handle: (call) => {
          const { at, body } = call;
          const channel = channels.get(body.channelId);
          if (channel === undefined) {
            return { status: 400, code: 'invalid_channel', message: `Channel ID ${body.channelId} is invalid.` };
          }
          if (!isQueue(body.assignment?.id)) return refuseQueue(body.assignment?.id);
          const queueId = body.assignment?.id ?? channel.queueId;
          const made: Conversation = {
            conversationId: newId(),
            channelId: body.channelId,
            createdAt: toTime(at),
            state: 'queued',
            queueId,
            user: body.user,
            historyMessages: body.history?.messages.length ?? 0,
            agent: null,
            messages: [],
          };
          const { conversationId, createdAt } = made;
          const event = { eventType: 'QUEUED', data: { queueId, queueName: QUEUES[queueId] ?? queueId } };
          return accept(call, made, { kind: 'conversation', event, ...hal(202, { conversationId, createdAt }) });
        },
      }),
      about(`GET ${CONVERSATION}`, 'gatewayKey', { handle: (conversation) => hal(200, toResult(conversation)) }),
      update('PUT'),
      update('PATCH'),
      about(`POST ${CONVERSATION}/messages`, 'gatewayKey', {
        schema: messageSchema,
        codes: NO_OBJECT,
        recipients: numberAt('user', 'phone'),
        handle: (conversation, call) => {
          const { text } = call.body;
          const after = addMessage(conversation, 'user', text, call.at);
          // The application's own messages are echoed, and marked so.
          const data = { isEcho: true, text, sender: { id: 'user', type: 'user' } };
          const event = { eventType: 'MESSAGE', data };
          return accept(call, after, { kind: 'message', event, status: 202 });
        },
      }),
      defineRoute(`GET ${CONTROL}`, 'anyone', { handle: () => ({ status: 200, body: [...conversations.values()] }) }),
      about(`GET ${CONTROL}/:conversationId`, 'anyone', {
        handle: (conversation) => ({ status: 200, body: conversation }),
      }),
      about(`POST ${CONTROL}/:conversationId/join`, 'anyone', {
        schema: joinSchema,
        handle: (conversation, call) => {
          const { agentId, agentName } = call.body;
          if (conversation.agent !== null) return { status: 409, message: 'Cannot join: an agent is there already' };
          const agent = { id: agentId, name: agentName };
          const after: Conversation = { ...conversation, state: 'with agent', agent };
          const event = { eventType: 'AGENT_JOINED', messageType: 'SYSTEM', agentId, agentName };
          return accept(call, after, { kind: 'agent-joined', event, status: 200, body: after });
        },
      }),
      // Typing changes nothing, so it is in no ledger.
      about(`POST ${CONTROL}/:conversationId/type`, 'anyone', {
        handle: (conversation, { at }) => {
          const { agent } = conversation;
          if (agent === null) return { status: 409, message: 'Cannot type: no agent has joined' };
          const data = { name: 'typing', value: { users: [{ type: 'agent', id: agent.id }] } };
          return { status: 200, body: conversation, posts: tell(conversation, at, { eventType: 'ACTIVITY', data }) };
        },
      }),
      about(`POST ${CONTROL}/:conversationId/message`, 'anyone', {
        schema: agentMessageSchema,
        handle: (conversation, call) => {
          const { agent } = conversation;
          const { text } = call.body;
          if (agent === null) return { status: 409, message: 'Cannot write: no agent has joined' };
          const after = addMessage(conversation, 'agent', text, call.at);
          const data = { isEcho: false, text, sender: { id: agent.id, type: 'agent' } };
          const event = { eventType: 'MESSAGE', data };
          return accept(call, after, { kind: 'agent-message', event, status: 200, body: after });
        },
      }),
    ],
    apply: (row: GatewayRow) => {
      if (row.kind === 'webhook') uriOfWebhook.set(row.webhookId, row.uri);
      else if (row.kind === 'channel') {
        channels.set(row.channelId, { queueId: row.queueId, uri: uriOfWebhook.get(row.webhookId) ?? null });
      } else conversations.set(row.conversationId, row.conversation);
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

function hal(status: number, body: Fields) {
  return { status, body, headers: { 'content-type': 'application/hal+json' } };
}

function addMessage(conversation: Conversation, authorType: 'user' | 'agent', text: string, at: number): Conversation {
  return { ...conversation, messages: [...conversation.messages, { authorType, text, at: toTime(at) }] };
}

function toTime(at: number): string {
  return new Date(at).toISOString();
}

/** A conversation as the service's documentation shows it. */
function toResult({ conversationId, channelId, queueId, user }: Conversation): Fields {
  return { id: conversationId, channelId, assignment: { type: 'queue', id: queueId }, user, state: 'active' };
}
