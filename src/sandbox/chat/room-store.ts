import type { ChatEntry } from './chat-entry.js';

/** A message as it is read. */
export interface RoomMessage {
  readonly authorUser: {
    readonly avatarUrl: string;
    readonly email: string;
    readonly id: string;
    readonly name: string;
  };
  readonly parsed: string;
  readonly id: string;
  /** Microseconds since 1970. */
  readonly timestamp: number;
}

/** A message as the ledger has it. */
export type KeptMessage = Pick<ChatEntry, 'room' | 'messageId' | 'timestamp' | 'messageRaw'>;

/** The author: the holder of the test key. */
const AUTHOR: RoomMessage['authorUser'] = {
  avatarUrl: 'https://chat.example/avatars/sandbox.png',
  email: 'sandbox@acme.example',
  id: 'sandbox-user',
  name: 'Sandbox',
};

export function toRoomMessage({ messageId: id, timestamp, messageRaw: parsed }: KeptMessage): RoomMessage {
  return { authorUser: AUTHOR, parsed, id, timestamp };
}

/** The messages of each room; a room exists as soon as it is named. */
export class RoomStore {
  readonly #messagesOf = new Map<string, RoomMessage[]>();
  #lastTimestamp = 0;

  /** Later than the last, whatever the clock says: its milliseconds are coarser than messages are frequent. */
  nextTimestamp(now: number): number {
    return Math.max(now * 1000, this.#lastTimestamp + 1);
  }

  post(posted: KeptMessage): void {
    const messages = this.#messagesOf.get(posted.room);
    if (messages === undefined) this.#messagesOf.set(posted.room, [toRoomMessage(posted)]);
    else messages.push(toRoomMessage(posted));
    this.#lastTimestamp = Math.max(this.#lastTimestamp, posted.timestamp);
  }

  /** The newest `count` messages, newest first. */
  readNewest(room: string, count: number): RoomMessage[] {
    return (this.#messagesOf.get(room) ?? []).slice(-count).reverse();
  }

  /** Times continue to increase. */
  clear(): void {
    this.#messagesOf.clear();
  }
}
