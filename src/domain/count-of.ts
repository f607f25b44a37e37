/** `1234` → `1,234`. */
export function format(count: number): string {
  return count.toLocaleString('en-US');
}

/** `1 row`, `2 rows`; pass `plural` for nouns that do not take -s. */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${format(count)} ${count === 1 ? noun : plural}`;
}
