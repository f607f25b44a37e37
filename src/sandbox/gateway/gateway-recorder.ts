import type { AreaDeps } from '../area.js';
import type { Fields } from '../ledger/entry-head.js';
import { CheckLane, EventLane } from './event-lane.js';
import type { GatewayRow } from './gateway-entry.js';
import { buildCheckEvent, buildEvent, buildTypingEvent } from './gateway-event.js';
import { GatewayStore } from './gateway-store.js';

/** Applies a checked change: updates the state, appends to the ledger, and notifies the webhook, in this order. */
export class GatewayRecorder {
  readonly store = new GatewayStore();
  readonly #deps: AreaDeps;
  readonly #laneOf = new Map<string, EventLane>();

  constructor(deps: AreaDeps) {
    this.#deps = deps;
  }

  /** `request` is the number of the HTTP request, 0 for what an agent does. In the ledger when it resolves, to its time in ms since 1970. */
  async accept(row: GatewayRow, request: number): Promise<number> {
    const { clock, ledger, newId, webhooks } = this.#deps;
    const at = clock.now();
    // No await between check and change: concurrent calls are serialized.
    this.store.apply(row, new Date(at).toISOString());
    const conversation = 'conversationId' in row ? this.store.conversation(row.conversationId) : undefined;
    await ledger.append({ at, area: 'gateway', request }, [row]);
    const event = conversation === undefined ? undefined : buildEvent(row, conversation, at);
    if (conversation !== undefined && event !== undefined) this.#notify(conversation.conversationId, event);
    if (row.kind === 'webhook') webhooks.send(new CheckLane(row.uri, newId(), buildCheckEvent(row.version)));
    return at;
  }

  /** Notifies the webhook that an agent types. */
  sendTyping(conversationId: string, agentId: string): void {
    this.#notify(conversationId, buildTypingEvent(conversationId, agentId, this.#deps.clock.now()));
  }

  clear(): void {
    this.store.clear();
    this.#laneOf.clear();
  }

  #notify(conversationId: string, event: Fields): void {
    const { newId, webhooks } = this.#deps;
    const conversation = this.store.conversation(conversationId);
    // Cleared while the ledger was written.
    if (conversation === undefined) return;
    const url = this.store.channel(conversation.channelId)?.uri ?? null;
    if (url === null) return;
    const lane = this.#laneOf.get(conversationId) ?? new EventLane(url);
    this.#laneOf.set(conversationId, lane);
    lane.add(newId(), event);
    webhooks.send(lane);
  }
}
