/** `1234` → `1,234`. */
export function format(count: number): string {
  return count.toLocaleString('en-US');
}

/** `1 row`, `2 rows`; pass `plural` for nouns that do not take -s. */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${format(count)} ${count === 1 ? noun : plural}`;
}

/** `3 rejected`, `1 in doubt`: those of which there are any. */
export function listNonZero(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts).flatMap(([what, count]) => (count > 0 ? [`${format(count)} ${what}`] : []));
}

/** In the largest unit that leaves a whole number before the point: `1.2 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let [value, unit] = [bytes, 0];
  for (; value >= 1000 && unit < units.length - 1; unit += 1) value /= 1000;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** `a, b, and 3 more`: the first so many of a list. */
export function listMost(items: readonly string[], most: number): string {
  const more = items.length - most;
  return `${items.slice(0, most).join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}
