import type { AreaEntry, Fields } from '../area.js';
import type { PostKind } from '../webhook/sender.js';

export type GatewayEntry = AreaEntry<'gateway', GatewayRow>;

export type GatewayRow = WebhookRow | ChannelRow | ConversationRow;

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
