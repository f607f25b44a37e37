import type { Fields } from '../ledger/entry-head.js';
import { queueIdOf } from './conversation-request.js';
import type { GatewayRow } from './gateway-entry.js';

/** The initial queues, each with an agent: the contract has no operation that creates one. */
export const QUEUES: Readonly<Record<string, string>> = { '100': 'Sales', '101': 'Support', '102': 'Billing' };

export interface Channel {
  readonly channelId: string;
  readonly queueId: string;
  /** Where its events go; null for the channel without a webhook. */
  readonly uri: string | null;
}

/** Exists from the start, without a webhook, so that a conversation needs no setup. */
const SANDBOX_CHANNEL: Channel = { channelId: 'sandbox-channel', queueId: '100', uri: null };

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

const FIRST_WEBHOOK_ID = 1001;
const FIRST_CHANNEL_ID = 2001;

/** Webhooks, channels and conversations as the rows of the ledger make them; a row that is applied must have been checked. */
export class GatewayStore {
  readonly #uriOfWebhook = new Map<string, string>();
  readonly #channels = new Map<string, Channel>();
  readonly #conversations = new Map<string, Conversation>();

  constructor() {
    this.clear();
  }

  get conversations(): Iterable<Conversation> {
    return this.#conversations.values();
  }

  nextWebhookId(): string {
    return String(FIRST_WEBHOOK_ID + this.#uriOfWebhook.size);
  }

  nextChannelId(): string {
    // The sandbox's own does not count.
    return String(FIRST_CHANNEL_ID + this.#channels.size - 1);
  }

  hasWebhook(webhookId: string): boolean {
    return this.#uriOfWebhook.has(webhookId);
  }

  channel(channelId: string): Channel | undefined {
    return this.#channels.get(channelId);
  }

  conversation(conversationId: string): Conversation | undefined {
    return this.#conversations.get(conversationId);
  }

  /** `at` is when it was accepted, ISO 8601. */
  apply(row: GatewayRow, at: string): void {
    switch (row.kind) {
      case 'webhook':
        this.#uriOfWebhook.set(row.webhookId, row.uri);
        return;
      case 'channel': {
        const { channelId, queueId, webhookId } = row;
        this.#channels.set(channelId, { channelId, queueId, uri: this.#uriOfWebhook.get(webhookId) ?? null });
        return;
      }
      case 'conversation':
        this.#conversations.set(row.conversationId, this.#begin(row.conversationId, row.body, at));
        return;
      default: {
        const conversation = this.#conversations.get(row.conversationId);
        if (conversation !== undefined) this.#conversations.set(row.conversationId, change(conversation, row, at));
      }
    }
  }

  clear(): void {
    this.#uriOfWebhook.clear();
    this.#channels.clear();
    this.#conversations.clear();
    this.#channels.set(SANDBOX_CHANNEL.channelId, SANDBOX_CHANNEL);
  }

  #begin(conversationId: string, body: Fields, at: string): Conversation {
    const channelId = body.channelId as string;
    const history = body.history as { messages: readonly unknown[] } | undefined;
    return {
      conversationId,
      channelId,
      createdAt: at,
      state: 'queued',
      queueId: queueIdOf(body) ?? this.#channels.get(channelId)?.queueId ?? SANDBOX_CHANNEL.queueId,
      user: body.user as Fields,
      historyMessages: history?.messages.length ?? 0,
      agent: null,
      messages: [],
    };
  }
}

type Change = Exclude<GatewayRow, { kind: 'webhook' | 'channel' | 'conversation' }>;

function change(conversation: Conversation, row: Change, at: string): Conversation {
  const { user, queueId, messages } = conversation;
  switch (row.kind) {
    case 'update': {
      const given = row.body.user as Fields | undefined;
      // PUT replaces the user, PATCH only the fields that it names.
      const changedUser = row.method === 'PUT' ? (given ?? user) : { ...user, ...given };
      return { ...conversation, user: changedUser, queueId: queueIdOf(row.body) ?? queueId };
    }
    case 'message':
      return { ...conversation, messages: [...messages, { authorType: 'user', text: row.body.text as string, at }] };
    case 'agent-joined':
      return { ...conversation, state: 'with agent', agent: { id: row.agentId, name: row.agentName } };
    case 'agent-message':
      return { ...conversation, messages: [...messages, { authorType: 'agent', text: row.text, at }] };
  }
}
