import type { Clock } from '../../clock.js';

/** One POST to a webhook, repeated until it is answered 2xx. */
export interface Delivery {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Delays before each repetition, in milliseconds; after the last it is given up. */
  readonly retryDelaysMs: readonly number[];
}

/** Delivers to webhooks in the background; what is under way ends when the sandbox closes. */
export interface WebhookSender {
  send(delivery: Delivery): void;
  close(): Promise<void>;
}

export function createWebhookSender(_deps: { clock: Clock }): WebhookSender {
  return { send: () => {}, close: async () => {} };
}
