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
}

export function createCounts(): ListenCounts {
  return { received: 0, written: 0, duplicates: 0, unknown: 0, bad: 0, refused: 0, busy: 0 };
}

export interface IntakeDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly writer: Pick<EventWriter, 'append'>;
  /** Ids of the events that are durable. */
  readonly known: KeySet;
  readonly counts: ListenCounts;
  readonly onWritten: (event: StoredEvent) => void;
}

/** Takes one delivery, and resolves when its event is durable, now or since earlier. Rejects when the file cannot be written. */
export type TakeEvent = (body: Uint8Array, headers: EventHeaders) => Promise<'written' | 'duplicate' | 'bad'>;

/** However many deliveries of one event come, one is written; each waits until it is durable. */
export function createIntake({ clock, writer, known, counts, onWritten }: IntakeDeps): TakeEvent {
  const underWay = new Map<string, Promise<void>>();

  return async (body, headers) => {
    const arrived = readEvent(body, headers);
    if (arrived === undefined) {
      counts.bad += 1;
      return 'bad';
    }
    const { kind, id, event, signature } = arrived;
    counts.received += 1;
    const writing = underWay.get(id);
    if (writing !== undefined || known.has(id)) {
      await writing;
      counts.duplicates += 1;
      return 'duplicate';
    }
    const receivedAt = new Date(clock.now()).toISOString();
    const appending = writer.append(encodeEventLine(arrived, receivedAt));
    underWay.set(id, appending);
    try {
      await appending;
      known.add(id);
    } finally {
      underWay.delete(id);
    }
    counts.written += 1;
    if (kind === 'unknown') counts.unknown += 1;
    onWritten({ receivedAt, kind, id, event, ...(signature === undefined ? {} : { signature }) });
    return 'written';
  };
}
