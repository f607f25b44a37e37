import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import { type EventWriter, encodeEventLine, type StoredEvent } from './event-file.js';
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
  /** Connections closed at once because too many were open, or because a request was sent ahead of an answer. */
  dropped: number;
}

export function createCounts(): ListenCounts {
  return { received: 0, written: 0, duplicates: 0, unknown: 0, bad: 0, refused: 0, busy: 0, dropped: 0 };
}

/** What is said of an event that was written; its body may be large, and stands in the file. */
export type WrittenEvent = Pick<StoredEvent, 'kind' | 'id'>;

/** Takes one delivery, and resolves when its event is durable, now or since earlier. Rejects when the file cannot be written. */
export type TakeEvent = (body: Uint8Array, headers: EventHeaders) => Promise<'written' | 'duplicate' | 'bad'>;

/** However many deliveries of one event come, one is written; each waits until it is durable. `known` are the durable ones. */
export function createIntake(
  writer: EventWriter,
  known: KeySet,
  counts: ListenCounts,
  { now, onWritten }: { now: () => number; onWritten: (event: WrittenEvent) => void },
): TakeEvent {
  const underWay = new Map<string, Promise<void>>();

  /** While many wait for the disk, each keeps its line alone, and not what it was made of. */
  const read = (body: Uint8Array, headers: EventHeaders): (WrittenEvent & { readonly line: Buffer }) | undefined => {
    const arrived = readEvent(body, headers);
    if (arrived === undefined) return undefined;
    const line = Buffer.from(encodeEventLine(arrived, new Date(now()).toISOString()));
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

const LOG_EVERY_MS = 5000;

/** Logs every five seconds how many events came, if any; until `signal` aborts. Logs no content. */
export async function logCounts(
  { clock, log, signal }: { clock: Clock; log: Log; signal: AbortSignal },
  counts: Readonly<ListenCounts>,
): Promise<void> {
  let said = JSON.stringify(counts);
  while (!signal.aborted) {
    await clock.sleep(LOG_EVERY_MS, signal);
    const now = JSON.stringify(counts);
    if (now === said) continue;
    said = now;
    log.info(describeCounts(counts), { ...counts });
  }
}

/** One line for a person. */
export function describeCounts(counts: ListenCounts): string {
  const { received, written, duplicates, unknown, bad, refused, busy, dropped } = counts;
  const more = [
    `${duplicates} duplicates`,
    `${unknown} of unknown kind`,
    `${bad} bad bodies`,
    `${refused} refused`,
    `${busy} turned away`,
    `${dropped} connections dropped`,
  ];
  return `${received} events received, ${written} written, ${more.join(', ')}`;
}
