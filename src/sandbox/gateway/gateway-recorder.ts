import type { AreaDeps } from '../area.js';
import type { Fields } from '../ledger/entry-head.js';
import { CheckLane, EventLane } from './event-lane.js';
import type { GatewayRow } from './gateway-entry.js';
import { buildCheckEvent, buildEvent, buildTypingEvent } from './gateway-event.js';
import { GatewayStore } from './gateway-store.js';

/** What comes of a request to the gateway, or of what an agent does; `answer` sees the state as it then stands. */
export interface GatewayDecision<T> {
  readonly row?: GatewayRow;
  answer(): T;
}

/** Decides on a change, appends it to the ledger, updates the state, and notifies the webhook, in this order. */
export class GatewayRecorder {
  readonly store = new GatewayStore();
  readonly #deps: AreaDeps;
  readonly #laneOf = new Map<string, EventLane>();

  constructor(deps: AreaDeps) {
    this.#deps = deps;
  }

  /** `request` is the number of the HTTP request, 0 for what an agent does; `at` in ms since 1970. */
  accept<T>({ request, at }: { request: number; at: number }, decide: () => GatewayDecision<T>): Promise<T> {
    return this.#deps.ledger.accept({ at, area: 'gateway', request }, () => {
      const { row, answer } = decide();
      if (row === undefined) return { answer };
      const notifyThenAnswer = () => {
        this.#notifyOf(row, at);
        return answer();
      };
      return { rows: [row], answer: notifyThenAnswer };
    });
  }

  /** Notifies the webhook that an agent types. */
  sendTyping(conversationId: string, agentId: string): void {
    this.#notify(conversationId, buildTypingEvent(conversationId, agentId, this.#deps.clock.now()));
  }

  clear(): void {
    this.store.clear();
    this.#laneOf.clear();
  }

  #notifyOf(row: GatewayRow, at: number): void {
    const { newId, webhooks } = this.#deps;
    if (row.kind === 'webhook') webhooks.send(new CheckLane(row.uri, newId(), buildCheckEvent(row.version)));
    const conversation = 'conversationId' in row ? this.store.conversation(row.conversationId) : undefined;
    const event = conversation === undefined ? undefined : buildEvent(row, conversation, at);
    if (conversation !== undefined && event !== undefined) this.#notify(conversation.conversationId, event);
  }

  #notify(conversationId: string, event: Fields): void {
    const { newId, webhooks } = this.#deps;
    const conversation = this.store.conversation(conversationId);
    if (conversation === undefined) return;
    const url = this.store.channel(conversation.channelId)?.uri ?? null;
    if (url === null) return;
    const lane = this.#laneOf.get(conversationId) ?? new EventLane(url);
    this.#laneOf.set(conversationId, lane);
    lane.add(newId(), event);
    webhooks.send(lane);
  }
}
