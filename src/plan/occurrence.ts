/**
 * Distinguishes plans for the same files: '' where files are sent once, a date (`repeat: per-day`), or `again-<n>`,
 * the n-th time that they are sent. The first time is '' and `again-1`: the two are one.
 */
export function isSameOccurrence(one: string, other: string): boolean {
  return foldFirst(one) === foldFirst(other);
}

/** The occurrence of a job of every day, by the time zone of the host. */
export function nameDay(atMs: number): string {
  const at = new Date(atMs);
  return [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
}

/** Whether it is the date of a job of every day. */
export function isDay(occurrence: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(occurrence);
}

/** Reads which time it is: 1 for the first time, and for each day. */
export function readAgain(occurrence: string): number {
  return Number(/^again-(\d+)$/.exec(occurrence)?.[1] ?? 1);
}

/** The occurrence of the n-th time. */
export function nameAgain(n: number): string {
  return `again-${n}`;
}

/** Makes it '' for the first time, however that is written. */
export function foldFirst(occurrence: string): string {
  return occurrence === FIRST ? '' : occurrence;
}

const FIRST = nameAgain(1);
