import type { EntryHead, Fields } from '../ledger/entry-head.js';

/** What the gateway accepted: `body` is the whole body of the request. */
export type GatewayRow =
  | {
      readonly kind: 'webhook';
      readonly webhookId: string;
      readonly name: string;
      readonly uri: string;
      readonly version: string;
    }
  | {
      readonly kind: 'channel';
      readonly channelId: string;
      readonly name: string;
      readonly description: string | null;
      readonly queueId: string;
      readonly webhookId: string;
    }
  | { readonly kind: 'conversation'; readonly conversationId: string; readonly body: Fields }
  | {
      readonly kind: 'update';
      readonly conversationId: string;
      readonly method: 'PUT' | 'PATCH';
      readonly body: Fields;
    }
  /** From the customer. */
  | { readonly kind: 'message'; readonly conversationId: string; readonly body: Fields }
  /** What agents do has no HTTP request of the service: its `request` is 0. */
  | {
      readonly kind: 'agent-joined';
      readonly conversationId: string;
      readonly agentId: string;
      readonly agentName: string;
    }
  | { readonly kind: 'agent-message'; readonly conversationId: string; readonly text: string };

export type GatewayEntry = EntryHead & { readonly area: 'gateway' } & GatewayRow;
