import type { AreaDeps } from '../area.js';
import type { Fields } from '../ledger/entry-head.js';
import { CheckLane, EventLane } from './event-lane.js';
import type { GatewayRow } from './gateway-entry.js';
import { buildCheckEvent, buildEvent, buildTypingEvent } from './gateway-event.js';
import { Switchboard } from './switchboard.js';

/** Does what was checked: changes the state, writes it down, and tells the webhook, in this order. */
export class Desk {
  readonly board = new Switchboard();
  readonly #deps: AreaDeps;
  readonly #laneOf = new Map<string, EventLane>();

  constructor(deps: AreaDeps) {
    this.#deps = deps;
  }

  /** `request` is the number of the HTTP request, 0 for what an agent does. In the ledger when it resolves, to its time in ms since 1970. */
  async accept(row: GatewayRow, request: number): Promise<number> {
    const { clock, ledger, newId, webhooks } = this.#deps;
    const at = clock.now();
    // Nothing is awaited between the check and the change: of two calls at once, one comes second.
    this.board.apply(row, new Date(at).toISOString());
    const conversation = 'conversationId' in row ? this.board.conversation(row.conversationId) : undefined;
    await ledger.append({ at, area: 'gateway', request }, [row]);
    const event = conversation === undefined ? undefined : buildEvent(row, conversation, at);
    if (conversation !== undefined && event !== undefined) this.#tell(conversation.conversationId, event);
    if (row.kind === 'webhook') webhooks.send(new CheckLane(row.uri, newId(), buildCheckEvent(row.version)));
    return at;
  }

  /** Tells the webhook that an agent types. */
  tellTyping(conversationId: string, agentId: string): void {
    this.#tell(conversationId, buildTypingEvent(conversationId, agentId, this.#deps.clock.now()));
  }

  clear(): void {
    this.board.clear();
    this.#laneOf.clear();
  }

  #tell(conversationId: string, event: Fields): void {
    const { newId, webhooks } = this.#deps;
    const conversation = this.board.conversation(conversationId);
    // Cleared while it was being written down.
    if (conversation === undefined) return;
    const url = this.board.channel(conversation.channelId)?.uri ?? null;
    if (url === null) return;
    const lane = this.#laneOf.get(conversationId) ?? new EventLane(url);
    this.#laneOf.set(conversationId, lane);
    lane.add(newId(), event);
    webhooks.send(lane);
  }
}
