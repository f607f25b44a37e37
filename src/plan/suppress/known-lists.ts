import { sumOf } from '../../domain/count-of.js';
import { listNumbers, type SuppressionColumn } from './suppression-columns.js';

/** 8 bytes each. */
const MOST_NUMBERS = 6_000_000;

/**
 * What suppression lists had, by their content and how it is read, for a process that reads the same ones again and again: a million numbers
 * take seconds to read. With more than so many numbers in all it begins anew.
 */
export class KnownLists {
  readonly #lists = new Map<string, readonly SuppressionColumn[]>();
  #numbers = 0;

  find(key: string): readonly SuppressionColumn[] | undefined {
    return this.#lists.get(key);
  }

  add(key: string, columns: readonly SuppressionColumn[]): void {
    const numbers = sumOf(columns.map((column) => listNumbers(column).length));
    if (this.#numbers + numbers > MOST_NUMBERS) {
      this.#lists.clear();
      this.#numbers = 0;
    }
    if (numbers > MOST_NUMBERS) return;
    this.#lists.set(key, columns);
    this.#numbers += numbers;
  }
}
