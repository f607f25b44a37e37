import { isDeepStrictEqual } from 'node:util';
import { countOf, format, listNonZero } from '../domain/count-of.js';
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

/** Logs every five seconds how many events came, if any, and warns of refused ones; until `signal` aborts. Logs no content. */
export async function logCounts(
  { clock, log, signal }: { clock: Clock; log: Log; signal: AbortSignal },
  { counts, path }: { readonly counts: Readonly<ListenCounts>; readonly path: string },
): Promise<void> {
  let said = { ...counts };
  while (!signal.aborted) {
    await clock.sleep(LOG_EVERY_MS, signal);
    const now = { ...counts };
    if (isDeepStrictEqual(now, said)) continue;
    const text = describeCounts(now);
    if (now.refused === said.refused) log.info(text, now);
    else log.warn(`${text}; what is refused was not posted to ${path}`, now);
    said = now;
  }
}

/** One line for a person. */
export function describeCounts(counts: ListenCounts): string {
  const { received, written, duplicates, unknown, bad, refused, busy, dropped } = counts;
  const more = listNonZero({
    repeated: duplicates,
    'of unknown kind': unknown,
    'with a bad body': bad,
    refused,
    'turned away': busy,
  });
  if (dropped > 0) more.push(`${countOf(dropped, 'connection')} dropped`);
  return [`${countOf(received, 'event')} received`, `${format(written)} written`, ...more].join(', ');
}
