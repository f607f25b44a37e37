import { CONVERSATIONS_PATH, GATEWAY_ACCEPT, type QUEUE_ASSIGNMENT } from '../../domain/documented.js';
import { UserError } from '../../domain/errors.js';
import { isObject } from '../../domain/is-object.js';
import type { ServiceAddresses } from '../../job/job.js';
import { type Response, readJsonBody } from '../answer.js';
import { type Endpoint, encodeJson, encodePathId, jsonRequest, type WireRequest } from '../endpoint.js';
import { readId, readObjectOrNothing, readText, readTime } from '../json-value.js';

/** A conversation as it is posted. Contract: "Conversation (creation request body, chat gateway)"; limits: documented.ts. */
export interface ConversationRequest {
  readonly channelId: string;
  /** Without it the channel's own queue. */
  readonly assignment?: QueueAssignment;
  readonly user: ConversationUser;
  readonly history?: { readonly messages: readonly HistoryMessage[] };
}

export interface QueueAssignment {
  readonly type: typeof QUEUE_ASSIGNMENT;
  /** Id of the queue. */
  readonly id: string;
}

export interface ConversationUser {
  readonly language?: string;
  readonly name?: string;
  readonly email?: string;
  readonly phone?: string;
  /** Each with both; at most 30. */
  readonly additionalProperties?: readonly { readonly key: string; readonly value: string }[];
}

/** The contract does not show the shapes of attachments and cards: they are posted as they are given. */
export interface HistoryMessage {
  readonly authorType: 'user' | 'bot';
  readonly text?: string;
  readonly attachments?: readonly unknown[];
  readonly cards?: readonly unknown[];
}

export interface CreatedConversation {
  readonly conversationId: string;
  /** ISO 8601, as the service wrote it; undefined where it wrote none. */
  readonly createdAt: string | undefined;
}

/** Names a queue, a user, or both; what it does not name stays. */
export interface ConversationChange {
  readonly conversationId: string;
  readonly assignment?: QueueAssignment;
  readonly user?: ConversationUser;
}

export interface ConversationState {
  readonly conversationId: string;
  /** The service's value, such as `active`; undefined if absent. */
  readonly state: string | undefined;
}

export interface MessageInput {
  readonly conversationId: string;
  readonly text: string;
}

export interface SentMessage {
  readonly conversationId: string;
  /** Undefined where the service gave none. */
  readonly messageId: string | undefined;
}

/** Endpoint 5. Not idempotent: each call queues a customer. */
export const createConversation: Endpoint<ConversationRequest, CreatedConversation> = {
  name: 'create a conversation',
  area: 'gateway',
  isRepeatable: () => false,
  request: (service, conversation) => conversationRequest(service, encodeJson(conversation)),
  read: (response) => readConversationBody(readJsonBody(response)),
};

/** A PATCH, since only that changes a part of a conversation; it sets the same values again when repeated. Refuses to change nothing. */
export const updateConversation: Endpoint<ConversationChange, ConversationState> = {
  name: 'update a conversation',
  area: 'gateway',
  isRepeatable: () => true,
  request: (service, { conversationId, assignment, user }) => {
    if (assignment === undefined && user === undefined) {
      throw new UserError('bad-input', 'Cannot update a conversation: it changes nothing, expected a queue or a user');
    }
    const path = formConversationPath(service.gatewayPaths.conversation, conversationId);
    return gatewayRequest({ service, path, method: 'PATCH' }, encodeJson({ assignment, user }));
  },
  read: readUpdatedConversation,
};

/** Sends a message as the conversation's customer. Not idempotent: repeated, the agent reads it twice. */
export const sendMessage: Endpoint<MessageInput, SentMessage> = {
  name: 'send a message into a conversation',
  area: 'gateway',
  isRepeatable: () => false,
  request: (service, { conversationId, text }) => {
    const path = formConversationPath(service.gatewayPaths.messages, conversationId);
    return gatewayRequest({ service, path }, encodeJson({ authorType: 'user', text }));
  },
  read: readSentMessage,
};

/** How a conversation is posted, from its JSON text. Contract: endpoint 5. */
export function conversationRequest(service: ServiceAddresses, body: Buffer): WireRequest {
  return gatewayRequest({ service, path: CONVERSATIONS_PATH }, body);
}

/** How anything is sent to the gateway. */
export function gatewayRequest(
  { service, path, method = 'POST' }: { service: ServiceAddresses; path: string; method?: 'POST' | 'PATCH' },
  body: Buffer,
): WireRequest {
  return jsonRequest({ base: service.bases.gateway, path, method, accept: GATEWAY_ACCEPT }, body);
}

/** The answer to a creation; undefined for a body that does not say which conversation it is. */
export function readConversationBody(body: unknown): CreatedConversation | undefined {
  if (!isObject(body)) return undefined;
  const conversationId = readId(body.conversationId ?? body.id);
  return conversationId === undefined ? undefined : { conversationId, createdAt: readTime(body.createdAt) };
}

/** The contract does not show the body: any but a page, or another conversation's, will do. */
function readUpdatedConversation(
  response: Response,
  { conversationId }: ConversationChange,
): ConversationState | undefined {
  const body = readObjectOrNothing(response);
  if (body === undefined || !isAbout(body.conversationId ?? body.id, conversationId)) return undefined;
  return { conversationId, state: readText(body.state) };
}

/** The service documents an answer without a body. */
function readSentMessage(response: Response, { conversationId }: MessageInput): SentMessage | undefined {
  const body = readObjectOrNothing(response);
  if (body === undefined || !isAbout(body.conversationId, conversationId)) return undefined;
  return { conversationId, messageId: readId(body.messageId ?? body.id) };
}

function isAbout(named: unknown, conversationId: string): boolean {
  return named === undefined || named === null || readId(named) === conversationId;
}

function formConversationPath(path: string, conversationId: string): string {
  const id = encodePathId(conversationId, 'a conversation id');
  return path.replaceAll('{conversationId}', () => id);
}
