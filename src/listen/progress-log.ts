import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { ListenCounts } from './intake.js';

const EVERY_MS = 5000;

/** Logs every five seconds how many events came, if any; until `signal` aborts. Logs no content. */
export async function logCounts(
  { clock, log, signal }: { clock: Clock; log: Log; signal: AbortSignal },
  counts: Readonly<ListenCounts>,
): Promise<void> {
  let said = JSON.stringify(counts);
  while (!signal.aborted) {
    await clock.sleep(EVERY_MS, signal);
    const now = JSON.stringify(counts);
    if (now === said) continue;
    said = now;
    log.info(describeCounts(counts), { ...counts });
  }
}

/** One line for a person. */
export function describeCounts({
  received,
  written,
  duplicates,
  unknown,
  bad,
  refused,
  busy,
  dropped,
}: ListenCounts): string {
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
