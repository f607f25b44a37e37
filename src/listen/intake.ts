import type { Clock } from '../ports/clock.js';
import { encodeEventLine, type StoredEvent } from './event-line.js';
import type { EventWriter } from './event-writer.js';
import type { KeySet } from './key-set.js';
import { type EventHeaders, readEvent } from './received-event.js';

/** Counts of deliveries since the listener started. received = written + duplicates + pending or failed. */
export interface ListenCounts {
  /** Deliveries with the right secret that hold a JSON object. */
  received: number;
  written: number;
  /** Deliveries of a known event; they are answered 2xx too. */
  duplicates: number;
  /** Written events of unknown kind. */
  unknown: number;
  /** Bodies that are not a JSON object, too large, or cut off. */
  bad: number;
  /** Deliveries without the right secret. */
  refused: number;
  /** Deliveries refused with 503 because too much was pending; the service repeats them. */
  busy: number;
  /** Connections closed at once because too many were open. */
  dropped: number;
}

export function createCounts(): ListenCounts {
  return { received: 0, written: 0, duplicates: 0, unknown: 0, bad: 0, refused: 0, busy: 0, dropped: 0 };
}

/** What is said of an event that was written; its body may be large, and stands in the file. */
export type WrittenEvent = Pick<StoredEvent, 'kind' | 'id'>;

export interface IntakeDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly writer: Pick<EventWriter, 'append'>;
  /** Ids of the events that are durable. */
  readonly known: KeySet;
  readonly counts: ListenCounts;
  readonly onWritten: (event: WrittenEvent) => void;
}

/** Takes one delivery, and resolves when its event is durable, now or since earlier. Rejects when the file cannot be written. */
export type TakeEvent = (body: Uint8Array, headers: EventHeaders) => Promise<'written' | 'duplicate' | 'bad'>;

/** However many deliveries of one event come, one is written; each waits until it is durable. */
export function createIntake({ clock, writer, known, counts, onWritten }: IntakeDeps): TakeEvent {
  const underWay = new Map<string, Promise<void>>();

  /** While many wait for the disk, each keeps its line alone, and not what it was made of. */
  const read = (body: Uint8Array, headers: EventHeaders): (WrittenEvent & { readonly line: Buffer }) | undefined => {
    const arrived = readEvent(body, headers);
    if (arrived === undefined) return undefined;
    const line = Buffer.from(encodeEventLine(arrived, new Date(clock.now()).toISOString()));
    return { kind: arrived.kind, id: arrived.id, line };
  };

  return async (body, headers) => {
    const event = read(body, headers);
    if (event === undefined) {
      counts.bad += 1;
      return 'bad';
    }
    const { kind, id } = event;
    counts.received += 1;
    const writing = underWay.get(id);
    if (writing !== undefined || known.has(id)) {
      await writing;
      counts.duplicates += 1;
      return 'duplicate';
    }
    const appending = writer.append(event.line);
    underWay.set(id, appending);
    try {
      await appending;
      known.add(id);
    } finally {
      underWay.delete(id);
    }
    counts.written += 1;
    if (kind === 'unknown') counts.unknown += 1;
    onWritten({ kind, id });
    return 'written';
  };
}
