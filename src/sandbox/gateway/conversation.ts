import type { AreaEntry, Fields } from '../area.js';
import type { PostKind } from '../webhook/sender.js';

/** What the gateway accepted: `body` is the whole body of the request. What agents do has no HTTP request of the service: its `request` is 0. */
export type GatewayEntry = AreaEntry<'gateway', GatewayRow>;

export type GatewayRow = WebhookRow | ChannelRow | CreationRow | ChangeRow;

interface WebhookRow {
  readonly kind: 'webhook';
  readonly webhookId: string;
  readonly name: string;
  readonly uri: string;
  readonly version: string;
}

interface ChannelRow {
  readonly kind: 'channel';
  readonly channelId: string;
  readonly name: string;
  readonly description: string | null;
  readonly queueId: string;
  readonly webhookId: string;
}

export interface CreationRow {
  readonly kind: 'conversation';
  readonly conversationId: string;
  readonly body: Fields;
}

export type ChangeRow = { readonly conversationId: string } & (
  | { readonly kind: 'update'; readonly method: 'PUT' | 'PATCH'; readonly body: Fields }
  /** From the customer. */
  | { readonly kind: 'message'; readonly body: Fields }
  | { readonly kind: 'agent-joined'; readonly agentId: string; readonly agentName: string }
  | { readonly kind: 'agent-message'; readonly text: string }
);

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
  /** Since it was created. */
  readonly messages: readonly { readonly authorType: 'user' | 'agent'; readonly text: string; readonly at: string }[];
}

export function openConversation(
  { conversationId, body }: CreationRow,
  queueOfChannel: string,
  at: string,
): Conversation {
  const history = body.history as { messages: readonly unknown[] } | undefined;
  return {
    conversationId,
    channelId: body.channelId as string,
    createdAt: at,
    state: 'queued',
    queueId: queueIn(body) ?? queueOfChannel,
    user: body.user as Fields,
    historyMessages: history?.messages.length ?? 0,
    agent: null,
    messages: [],
  };
}

export function makeChange(conversation: Conversation, row: ChangeRow, at: string): Conversation {
  const { user, queueId, messages } = conversation;
  switch (row.kind) {
    case 'update': {
      const given = row.body.user as Fields | undefined;
      // PUT replaces the user, PATCH only the fields that it names.
      const changedUser = row.method === 'PUT' ? (given ?? user) : { ...user, ...given };
      return { ...conversation, user: changedUser, queueId: queueIn(row.body) ?? queueId };
    }
    case 'message':
      return { ...conversation, messages: [...messages, { authorType: 'user', text: row.body.text as string, at }] };
    case 'agent-joined':
      return { ...conversation, state: 'with agent', agent: { id: row.agentId, name: row.agentName } };
    case 'agent-message':
      return { ...conversation, messages: [...messages, { authorType: 'agent', text: row.text, at }] };
  }
}

/** The event for the client application; undefined for what has none. `timestamp` in ms since 1970. */
export function buildEvent(row: CreationRow | ChangeRow, after: Conversation, timestamp: number): Fields | undefined {
  const { conversationId, queueId, agent } = after;
  const head = (eventType: string) => ({ eventType, conversationId, timestamp });
  switch (row.kind) {
    case 'conversation':
      return { ...head('QUEUED'), data: { queueId, queueName: QUEUES[queueId] ?? queueId } };
    case 'agent-joined':
      return { ...head('AGENT_JOINED'), messageType: 'SYSTEM', agentId: row.agentId, agentName: row.agentName };
    case 'agent-message':
      return {
        ...head('MESSAGE'),
        data: { isEcho: false, text: row.text, sender: { id: agent?.id ?? '', type: 'agent' } },
      };
    case 'message':
      // The application's own messages are echoed, and marked so.
      return { ...head('MESSAGE'), data: { isEcho: true, text: row.body.text, sender: { id: 'user', type: 'user' } } };
    case 'update':
      return undefined;
  }
}

function queueIn({ assignment }: Fields): string | undefined {
  return (assignment as { readonly id: string } | undefined)?.id;
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
