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

/** Writes bytes in the largest unit that leaves a whole number before the point: `1.2 MB`. */
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

/** `a, b and c`; undefined for no item. */
export function listAll(items: readonly (string | number)[]): string | undefined {
  if (items.length < 2) return items[0]?.toString();
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}

/** Parts of a text, without those that have nothing to say: each may stand behind its condition and `&&`. */
export function listSaid(...parts: readonly (string | false | undefined)[]): string[] {
  return parts.flatMap((part) => part || []);
}

export function sumOf(counts: Iterable<number>): number {
  let sum = 0;
  for (const count of counts) sum += count;
  return sum;
}

/** Counts one more, or so many, of a kind. */
export function increment(counts: Map<string, number>, key: string, by = 1): void {
  if (by > 0) counts.set(key, (counts.get(key) ?? 0) + by);
}

/** Counts by what they count, those of all parts together. */
export function addCounts(parts: Iterable<Readonly<Record<string, number>>>): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const part of parts) for (const [key, count] of Object.entries(part)) sums[key] = (sums[key] ?? 0) + count;
  return sums;
}

/** `59 s`, `1 min 35 s`, `2 h`. */
export function formatSeconds(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return listNonZero(hours > 0 ? { h: hours, min: minutes } : { min: minutes, s: seconds % 60 }).join(' ') || '0 s';
}
