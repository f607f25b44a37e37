import { randomUUID } from 'node:crypto';
import { type AreaCall, defineRoute, distortId, type Handled, type Route, type SandboxArea } from '../area.js';
import type { ErrorForm, RefusedRequest } from '../http-answer.js';
import type { Fields } from '../ledger/entry-head.js';
import type { WebhookSender } from '../webhook/sender.js';
import {
  buildEvent,
  type ChangeRow,
  type Channel,
  type ChannelRow,
  type Conversation,
  type CreationRow,
  type GatewayRow,
  makeChange,
  openConversation,
  postCheck,
  postEvent,
  QUEUES,
  type WebhookRow,
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
const FIRST_WEBHOOK_ID = 1001;
const FIRST_CHANNEL_ID = 2001;

/** Chat gateway: hands a customer's conversation over to a queue; agents are played through `/_sandbox/conversations`. */
export function createGatewayArea(newId: () => string): SandboxArea {
  const uriOfWebhook = new Map<string, string>();
  const channels = new Map<string, Channel>();
  const conversations = new Map<string, Conversation>();

  const clear = () => {
    for (const state of [uriOfWebhook, channels, conversations]) state.clear();
    // Exists from the start, without a webhook, so that a conversation needs no setup.
    channels.set('sandbox-channel', { queueId: '100', uri: null });
  };
  clear();

  const tell = (webhooks: WebhookSender, { conversationId, channelId }: Conversation, event: Fields) => {
    const url = channels.get(channelId)?.uri ?? null;
    if (url !== null) webhooks.send(postEvent(url, newId(), conversationId, event));
  };

  /** Accepts what happens to a conversation, and tells its webhook. */
  const accept = (
    row: CreationRow | ChangeRow,
    after: Conversation,
    { at, ...answer }: { at: number; status: number; body?: unknown; headers?: Record<string, string> },
  ): Handled => {
    const event = buildEvent(row, after, at);
    return {
      ...answer,
      entries: [{ ...row }],
      ...(event === undefined ? {} : { posts: (webhooks) => tell(webhooks, after, event) }),
    };
  };

  /** A route of one conversation, which is there. */
  const about = <Body>(
    route: Pick<Route<Body>, 'method' | 'path' | 'who'> & Partial<Route<Body>>,
    handle: (conversation: Conversation, call: AreaCall<Body>) => Handled | RefusedRequest,
  ): Route =>
    defineRoute<Body>({
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
    about(
      {
        method,
        path: `${BASE}/conversations/:conversationId`,
        who: 'gatewayKey',
        body: updateSchema,
        recipients: readPhone,
        distortions: distortId('id'),
      },
      (conversation, { at, body }) => {
        const { conversationId, channelId, state } = conversation;
        if (body.channelId !== undefined && body.channelId !== channelId) {
          return { status: 400, message: "channelId can't be changed" };
        }
        if (!isQueue(body.assignment?.id)) return refuseQueue(body.assignment?.id);
        if (state !== 'queued') return WITH_AGENT;
        const row: ChangeRow = { kind: 'update', conversationId, method, body };
        const after = makeChange(conversation, row, toTime(at));
        return accept(row, after, { at, ...hal(202, toResult(after)) });
      },
    );

  return {
    name: 'gateway',
    errors: GATEWAY_ERRORS,
    routes: [
      defineRoute({
        method: 'POST',
        path: `${BASE}/webhooks`,
        who: 'gatewayKey',
        body: webhookSchema,
        distortions: distortId('id'),
        handle: ({ body: webhook }) => {
          const webhookId = String(FIRST_WEBHOOK_ID + uriOfWebhook.size);
          return {
            ...hal(200, { id: webhookId, ...webhook }),
            entries: [{ kind: 'webhook', webhookId, ...webhook } satisfies WebhookRow],
            posts: (webhooks) => webhooks.send(postCheck(webhook.uri, newId(), webhook.version)),
          };
        },
      }),
      defineRoute({
        method: 'POST',
        path: `${BASE}/channels`,
        who: 'gatewayKey',
        body: channelSchema,
        distortions: distortId('id'),
        handle: ({ body: { name, description, type, webHookId, routingOptions } }) => {
          if (!uriOfWebhook.has(webHookId)) {
            return { status: 400, code: 'invalid_webhook', message: `Webhook ID ${webHookId} is invalid.` };
          }
          if (!isQueue(routingOptions.id)) return refuseQueue(routingOptions.id);
          // The sandbox's own does not count.
          const channelId = String(FIRST_CHANNEL_ID + channels.size - 1);
          const { id: queueId } = routingOptions;
          const made = { id: channelId, name, ...(description === null ? {} : { description }), type, webHookId };
          return {
            ...hal(200, { ...made, routingOptions: { type: 'queue', id: queueId } }),
            entries: [
              { kind: 'channel', channelId, name, description, queueId, webhookId: webHookId } satisfies ChannelRow,
            ],
          };
        },
      }),
      defineRoute({
        method: 'POST',
        path: `${BASE}/conversations`,
        who: 'gatewayKey',
        body: conversationSchema,
        recipients: readPhone,
        distortions: distortId('conversationId'),
        handle: ({ at, body }) => {
          const channel = channels.get(body.channelId);
          if (channel === undefined) {
            return { status: 400, code: 'invalid_channel', message: `Channel ID ${body.channelId} is invalid.` };
          }
          if (!isQueue(body.assignment?.id)) return refuseQueue(body.assignment?.id);
          const row: CreationRow = { kind: 'conversation', conversationId: newId(), body };
          const after = openConversation(row, channel, toTime(at));
          const { conversationId, createdAt } = after;
          return accept(row, after, { at, ...hal(202, { conversationId, createdAt }) });
        },
      }),
      about({ method: 'GET', path: `${BASE}/conversations/:conversationId`, who: 'gatewayKey' }, (conversation) =>
        hal(200, toResult(conversation)),
      ),
      update('PUT'),
      update('PATCH'),
      about(
        {
          method: 'POST',
          path: `${BASE}/conversations/:conversationId/messages`,
          who: 'gatewayKey',
          body: messageSchema,
          recipients: readPhone,
        },
        (conversation, { at, body }) => {
          const row: ChangeRow = { kind: 'message', conversationId: conversation.conversationId, body };
          return accept(row, makeChange(conversation, row, toTime(at)), { at, status: 202 });
        },
      ),
    ],
    // What an agent does is answered with the conversation as it then stands.
    control: [
      defineRoute({
        method: 'GET',
        path: '/_sandbox/conversations',
        who: 'anyone',
        handle: () => ({ status: 200, body: [...conversations.values()].map(toSummary) }),
      }),
      about({ method: 'GET', path: '/_sandbox/conversations/:conversationId', who: 'anyone' }, (conversation) => ({
        status: 200,
        body: conversation,
      })),
      about(
        { method: 'POST', path: '/_sandbox/conversations/:conversationId/join', who: 'anyone', body: joinSchema },
        (conversation, { at, body }) => {
          if (conversation.state !== 'queued') return conflict('Cannot join: an agent is there already');
          const row: ChangeRow = { kind: 'agent-joined', conversationId: conversation.conversationId, ...body };
          const after = makeChange(conversation, row, toTime(at));
          return accept(row, after, { at, status: 200, body: after });
        },
      ),
      // Typing changes nothing, so it is in no ledger.
      about(
        { method: 'POST', path: '/_sandbox/conversations/:conversationId/type', who: 'anyone' },
        (conversation, { at: timestamp }) => {
          const { conversationId, agent } = conversation;
          if (agent === null) return conflict('Cannot type: no agent has joined');
          const data = { name: 'typing', value: { users: [{ type: 'agent', id: agent.id }] } };
          const event = { eventType: 'ACTIVITY', conversationId, timestamp, data };
          return { status: 200, body: conversation, posts: (webhooks) => tell(webhooks, conversation, event) };
        },
      ),
      about(
        {
          method: 'POST',
          path: '/_sandbox/conversations/:conversationId/message',
          who: 'anyone',
          body: agentMessageSchema,
        },
        (conversation, { at, body: { text } }) => {
          if (conversation.agent === null) return conflict('Cannot write: no agent has joined');
          const row: ChangeRow = { kind: 'agent-message', conversationId: conversation.conversationId, text };
          const after = makeChange(conversation, row, toTime(at));
          return accept(row, after, { at, status: 200, body: after });
        },
      ),
    ],
    apply: (entry, at) => {
      const row = entry as unknown as GatewayRow;
      if (row.kind === 'webhook') uriOfWebhook.set(row.webhookId, row.uri);
      else if (row.kind === 'channel') {
        channels.set(row.channelId, { queueId: row.queueId, uri: uriOfWebhook.get(row.webhookId) ?? null });
      } else if (row.kind === 'conversation') {
        const channel = channels.get(row.body.channelId as string);
        if (channel !== undefined) conversations.set(row.conversationId, openConversation(row, channel, at));
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

function conflict(message: string): RefusedRequest {
  return { status: 409, message };
}

/** True also where none is named. */
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

function toSummary({ user: _, messages, ...summary }: Conversation) {
  return { ...summary, messages: messages.length };
}
