import { UserError } from '../../domain/errors.js';
import { isObject } from '../../domain/is-object.js';
import {
  CHANNEL_TYPE,
  ENDPOINTS,
  QUEUE_ASSIGNMENT,
  WEBHOOK_VERSION,
  WEBHOOK_VERSION_FIELDS,
} from '../../domain/service-facts.js';
import { type Response, readId, readJsonBody, readObjectOrNothing, readText, readTime } from '../answer.js';
import { defineEndpoint, type OutputOf } from '../endpoint.js';

// What is set up once: webhooks and channels.

/** Where the gateway sends the events of a channel. Contract: "Webhook and channel (configuration objects)". */
export interface WebhookInput {
  readonly name: string;
  /** Where the client application listens. */
  readonly url: string;
  /** The contract's "Chat API Version"; defaults to WEBHOOK_VERSION. */
  readonly version?: string | undefined;
}

export interface ChannelInput {
  readonly name: string;
  readonly description?: string;
  /** The id of a webhook that was made before. */
  readonly webhookId: string;
  /** Id of the queue for conversations that name none. */
  readonly queue: string;
}

export type CreatedWebhook = OutputOf<typeof createWebhook>;
export type CreatedChannel = OutputOf<typeof createChannel>;

export const createWebhook = defineEndpoint(
  ENDPOINTS.createWebhook,
  ({ name, url, version = WEBHOOK_VERSION }: WebhookInput) => {
    const versions = Object.fromEntries(WEBHOOK_VERSION_FIELDS.map((field) => [field, version]));
    return { body: { name, uri: url, ...versions } };
  },
  (response, { name }) => {
    const webhookId = readNewId(response, name, 'webHookId');
    return webhookId === undefined ? undefined : { webhookId };
  },
);

export const createChannel = defineEndpoint(
  ENDPOINTS.createChannel,
  ({ name, description, webhookId, queue }: ChannelInput) => {
    const routingOptions = { type: QUEUE_ASSIGNMENT, id: queue };
    return { body: { name, description, type: CHANNEL_TYPE, webHookId: webhookId, routingOptions } };
  },
  (response, { name }) => {
    const channelId = readNewId(response, name, 'channelId');
    return channelId === undefined ? undefined : { channelId };
  },
);

/**
 * Reads the id of what was made; undefined for an answer without an id, or with another name. An `id` counts only beside the name that was
 * sent, which the documentation requires in the answer: stray answers about other things have an id too.
 */
function readNewId(response: Response, name: string, field: string): string | undefined {
  const body = readJsonBody(response);
  if (!isObject(body)) return undefined;
  const named = readText(body.name);
  if (named === name) return readId(body.id, body[field]);
  return named === undefined ? readId(body[field]) : undefined;
}

// Conversations.

/** A conversation as it is posted. Contract: "Conversation (creation request body, chat gateway)"; limits: service-facts.ts. */
export interface ConversationRequest {
  readonly channelId: string;
  /** Without it the channel's own queue. */
  readonly assignment?: QueueAssignment;
  readonly user: ConversationUser;
  readonly history?: { readonly messages: readonly HistoryMessage[] };
}

interface QueueAssignment {
  readonly type: typeof QUEUE_ASSIGNMENT;
  /** Id of the queue. */
  readonly id: string;
}

export interface ConversationUser {
  readonly language?: string;
  readonly name?: string;
  readonly email?: string;
  readonly phone?: string;
  /** At most 30, each with key and value. */
  readonly additionalProperties?: readonly { readonly key: string; readonly value: string }[];
}

/** The contract does not show the shapes of attachments and cards: they are posted as they are given. */
interface HistoryMessage {
  readonly authorType: 'user' | 'bot';
  readonly text?: string;
  readonly attachments?: readonly unknown[];
  readonly cards?: readonly unknown[];
}

/** Names a queue, a user, or both; what it does not name stays. */
export interface ConversationChange {
  readonly conversationId: string;
  readonly assignment?: QueueAssignment;
  readonly user?: ConversationUser;
}

export interface MessageInput {
  readonly conversationId: string;
  readonly text: string;
}

export type CreatedConversation = OutputOf<typeof createConversation>;
export type ConversationState = OutputOf<typeof updateConversation>;
export type SentMessage = OutputOf<typeof sendMessage>;

export const createConversation = defineEndpoint(
  ENDPOINTS.createConversation,
  (conversation: ConversationRequest) => ({ body: conversation }),
  (response) => readConversationBody(readJsonBody(response)),
);

/** Refuses to change nothing. */
export const updateConversation = defineEndpoint(
  ENDPOINTS.updateConversation,
  ({ conversationId, assignment, user }: ConversationChange) => {
    if (assignment === undefined && user === undefined) {
      throw new UserError('bad-input', 'Cannot update a conversation: it changes nothing, expected a queue or a user');
    }
    return { ids: { conversationId }, body: { assignment, user } };
  },
  // The contract does not show the body: any but a page, or another conversation's, will do.
  (response, { conversationId }) => {
    const body = readObjectOrNothing(response);
    if (body === undefined || isOfAnother(readId(body.conversationId, body.id), conversationId)) return undefined;
    return {
      conversationId,
      /** The service's value, such as `active`; undefined if absent. */
      state: readText(body.state),
    };
  },
);

/** Sends a message as the conversation's customer. */
export const sendMessage = defineEndpoint(
  ENDPOINTS.sendMessage,
  ({ conversationId, text }: MessageInput) => ({ ids: { conversationId }, body: { authorType: 'user', text } }),
  // The service documents an answer without a body.
  (response, { conversationId }) => {
    const body = readObjectOrNothing(response);
    if (body === undefined || isOfAnother(readId(body.conversationId), conversationId)) return undefined;
    return {
      conversationId,
      /** The id of the message; undefined where the service gave none. */
      messageId: readId(body.messageId, body.id),
    };
  },
);

/** The answer to a creation; undefined for a body that does not say which conversation it is. */
export function readConversationBody(body: unknown) {
  if (!isObject(body)) return undefined;
  const conversationId = readId(body.conversationId, body.id);
  if (conversationId === undefined) return undefined;
  return {
    conversationId,
    /** ISO 8601, as the service wrote it; undefined where it wrote none. */
    createdAt: readTime(body.createdAt),
  };
}

function isOfAnother(named: string | undefined, conversationId: string): boolean {
  return named !== undefined && named !== conversationId;
}
