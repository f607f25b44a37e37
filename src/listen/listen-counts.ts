import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';

/** Counts of deliveries since the listener started. received = written + duplicates + pending or failed. */
export type ListenCounts = ReturnType<typeof createCounts>;

export function createCounts() {
  return {
    /** Deliveries with the right secret that hold a JSON object. */
    received: 0,
    written: 0,
    /** Deliveries of a known event; they are answered 2xx too. */
    duplicates: 0,
    /** Written events of unknown kind. */
    unknown: 0,
    /** Bodies that are not a JSON object, too large, or cut off. */
    bad: 0,
    /** Deliveries without the right secret. */
    refused: 0,
    /** Deliveries refused with 503 because too much was pending; the service repeats them. */
    busy: 0,
    /** Connections closed at once because too many were open, or because a request was sent ahead of an answer. */
    dropped: 0,
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
