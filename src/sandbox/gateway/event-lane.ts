import type { Fields } from '../ledger/entry-head.js';
import type { Post, WebhookLane } from '../webhook/webhook-lane.js';

/** Delays of repeats until an answer is 2xx; documented: "after a brief delay". The last repeats indefinitely. */
const RETRY_DELAYS_MS = [1_000, 2_000, 5_000, 10_000];
const LAST_RETRY_DELAY_MS = 10_000;

/** The check event to a new webhook, sent once: the webhook exists, whatever the answer. */
export class CheckLane implements WebhookLane {
  readonly url: string;
  readonly #post: Post;

  constructor(url: string, id: string, event: Fields) {
    this.url = url;
    this.#post = { headers: { 'x-8x8-event-id': id, 'x-8x8-retry': '0' }, body: event };
  }

  build(): Post {
    return this.#post;
  }

  retryDelayMs(): undefined {
    return undefined;
  }

  advance(): void {}
}

/** The events of one conversation on their way to its webhook, in order. */
export class EventLane implements WebhookLane {
  readonly url: string;
  readonly #events: { readonly id: string; readonly event: Fields }[] = [];

  constructor(url: string) {
    this.url = url;
  }

  /** `id` is the event's own: every attempt carries the same. */
  add(id: string, event: Fields): void {
    this.#events.push({ id, event });
  }

  build(attempt: number): Post {
    const [first] = this.#events;
    return {
      headers: { 'x-8x8-event-id': first?.id ?? '', 'x-8x8-retry': String(attempt) },
      body: first?.event,
    };
  }

  retryDelayMs(attempt: number): number {
    return RETRY_DELAYS_MS[attempt - 1] ?? LAST_RETRY_DELAY_MS;
  }

  advance(): void {
    this.#events.shift();
  }
}
