import { sumOf } from '../../domain/count-of.js';
import type { SuppressionColumn } from './suppression-columns.js';

/** 8 bytes each. */
const MOST_NUMBERS = 6_000_000;

/**
 * What suppression lists had, by their content and how it is read, for a process that reads the same ones again and again: a million numbers
 * take seconds to read. The lists that were used last are kept, up to so many numbers in all.
 */
export class KnownLists {
  readonly #lists = new Map<string, readonly SuppressionColumn[]>();

  find(key: string): readonly SuppressionColumn[] | undefined {
    const found = this.#lists.get(key);
    if (found !== undefined) this.add(key, found);
    return found;
  }

  add(key: string, columns: readonly SuppressionColumn[]): void {
    this.#lists.delete(key);
    this.#lists.set(key, columns);
    const counts = [...this.#lists].map(([each, of]) => [each, countNumbers(of)] as const);
    let left = sumOf(counts.map(([, count]) => count));
    for (const [each, count] of counts) {
      if (left <= MOST_NUMBERS) return;
      this.#lists.delete(each);
      left -= count;
    }
  }
}

function countNumbers(columns: readonly SuppressionColumn[]): number {
  return sumOf(
    columns.map(
      ({ international, national, otherReadings }) => international.length + national.length + otherReadings.length,
    ),
  );
}
