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

/** The author: the holder of the test key. */
const AUTHOR: RoomMessage['authorUser'] = {
  avatarUrl: 'https://chat.example/avatars/sandbox.png',
  email: 'sandbox@acme.example',
  id: 'sandbox-user',
  name: 'Sandbox',
};

/** The messages of each room; a room exists as soon as it is named. */
export class RoomStore {
  readonly #messagesOf = new Map<string, RoomMessage[]>();
  #lastTimestamp = 0;

  /** Later than the last, whatever the clock says: its milliseconds are coarser than messages are frequent. */
  nextTimestamp(now: number): number {
    return Math.max(now * 1000, this.#lastTimestamp + 1);
  }

  post(room: string, { id, timestamp, text }: { id: string; timestamp: number; text: string }): RoomMessage {
    const message = { authorUser: AUTHOR, parsed: text, id, timestamp };
    const messages = this.#messagesOf.get(room);
    if (messages === undefined) this.#messagesOf.set(room, [message]);
    else messages.push(message);
    this.#lastTimestamp = Math.max(this.#lastTimestamp, timestamp);
    return message;
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
