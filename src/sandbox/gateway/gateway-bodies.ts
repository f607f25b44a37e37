import { z } from 'zod';
import { type AreaEntry, absoluteUrl, type Fields, someText } from '../area.js';
import type { PostKind } from '../webhook-sender.js';

/**
 * What the gateway takes, with the limits of the service's documentation (fields that it does not know are kept), what the ledger has of it, and
 * what is posted.
 */

const aQueue = z.looseObject({ type: z.literal('queue'), id: someText });

/** As the contract calls it, and as the service's documentation writes it on the wire. */
const aVersion = z.enum(['Chat Gateway', 'Chat Gateway v1.0']).optional();

/** The documentation has the version under both names. */
export const webhookSchema = z
  .object({ name: someText.max(256), uri: absoluteUrl, version: aVersion, notificationVersion: aVersion })
  .transform(({ name, uri, notificationVersion, version = notificationVersion }, context) => {
    if (version !== undefined) return { name, uri, version };
    context.addIssue({ code: 'custom', path: ['version'], message: 'expected the version of the Chat Gateway' });
    return z.NEVER;
  });

/** Whether its webhook and queue exist is not checked here. */
export const channelSchema = z.object({
  name: someText.max(255),
  description: z.string().nullable().default(null),
  type: z.literal('ChatAPI').default('ChatAPI'),
  routingOptions: aQueue,
  webHookId: someText,
});

const userSchema = z.looseObject({
  language: z.string().optional(),
  name: z.string().optional(),
  email: z.string().optional(),
  phone: z.string().optional(),
  userId: z.string().optional(),
  company: z.string().optional(),
  caseId: z.string().optional(),
  additionalProperties: z
    .array(z.looseObject({ key: someText, value: someText }))
    .max(30)
    .optional(),
});

/** A text may be missing beside attachments or adaptive cards, whose shape the contract does not show. */
const historyMessage = z
  .looseObject({ authorType: z.enum(['user', 'bot']), text: someText.optional() })
  .refine(
    ({ text, attachments, cards }) =>
      text !== undefined || [attachments, cards].some((list) => Array.isArray(list) && list.length > 0),
    'expected a text',
  );

/** Whether channel and queue exist is not checked here. */
export const conversationSchema = z.looseObject({
  channelId: someText,
  assignment: aQueue.optional(),
  user: userSchema,
  history: z.looseObject({ messages: z.array(historyMessage).max(200) }).optional(),
});

export const updateSchema = z
  .looseObject({ channelId: z.unknown().optional(), assignment: aQueue.optional(), user: userSchema.optional() })
  .refine(({ user, assignment }) => user !== undefined || assignment !== undefined, {
    path: ['user'],
    error: 'expected a user or an assignment',
  });

/** A message, which only the customer sends this way. */
export const messageSchema = z.looseObject({ authorType: z.literal('user'), text: someText });

/** Who joins; a missing body counts as an empty object. */
export const joinSchema = z
  .object({ agentId: someText.default('agent-1'), agentName: someText.default('Alex Agent') })
  .prefault({});

export const agentMessageSchema = z.object({ text: someText });

export type GatewayEntry = AreaEntry<'gateway', GatewayRow>;

export type GatewayRow =
  | ({ readonly kind: 'webhook'; readonly webhookId: string } & z.output<typeof webhookSchema>)
  | ({
      readonly kind: 'channel';
      readonly channelId: string;
      readonly queueId: string;
      readonly webhookId: string;
    } & Pick<z.output<typeof channelSchema>, 'name' | 'description'>)
  | ConversationRow;

/** A conversation that was created or changed. What an agent does has no HTTP request of the service: its `request` is 0. */
export interface ConversationRow {
  readonly kind: 'conversation' | 'update' | 'message' | 'agent-joined' | 'agent-message';
  readonly conversationId: string;
  /** The whole body of the request. */
  readonly body: Fields;
  /** As it stands from then on. */
  readonly conversation: Conversation;
}

/** The initial queues, each with an agent: the contract has no operation that creates one. */
export const QUEUES: Readonly<Record<string, string>> = { '100': 'Sales', '101': 'Support', '102': 'Billing' };

export interface Conversation {
  readonly conversationId: string;
  readonly channelId: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** queued → with agent, and no way back. */
  readonly state: 'queued' | 'with agent';
  readonly queueId: string;
  readonly user: Fields;
  /** How many messages were handed over; the ledger has them. */
  readonly historyMessages: number;
  readonly agent: { readonly id: string; readonly name: string } | null;
  /** Messages since it was created. */
  readonly messages: readonly { readonly authorType: 'user' | 'agent'; readonly text: string; readonly at: string }[];
}

/** Delays of repeats until an answer is 2xx; documented: "after a brief delay". The last repeats indefinitely. */
const RETRY_DELAYS_MS = [1_000, 2_000, 5_000];
const LAST_RETRY_DELAY_MS = 10_000;

/** An event; every attempt carries the same `id`. */
export const EVENT: PostKind<{ readonly id: string; readonly event: object }> = {
  count: 1,
  retryDelayMs: (attempt) => RETRY_DELAYS_MS[attempt - 1] ?? LAST_RETRY_DELAY_MS,
  build: ({ id, event }, _, attempt) => ({
    headers: { 'x-8x8-event-id': id, 'x-8x8-retry': String(attempt) },
    body: event,
  }),
};

/** The check event to a new webhook, sent once: the webhook exists, whatever the answer. */
export const CHECK: typeof EVENT = { ...EVENT, retryDelayMs: () => undefined };
