import type { RowRange } from '../entry-format.js';

/** Values for ranges of rows, looked up by row: few entries for many rows. Ranges do not overlap. */
export class RowRanges<T> {
  #ranges: { readonly first: number; end: number; readonly value: T }[] = [];
  #isSorted = true;

  /** A range that continues the last one with the same value makes it longer. */
  add([first, count]: readonly [first: number, count: number], value: T): void {
    const last = this.#ranges.at(-1);
    if (last !== undefined && last.end === first && last.value === value) {
      last.end += count;
      return;
    }
    this.#isSorted &&= (last?.end ?? 0) <= first;
    this.#ranges.push({ first, end: first + count, value });
  }

  /** The value of the range that has a row; undefined where none has it. */
  find(row: number): T | undefined {
    if (!this.#isSorted) this.#ranges.sort((one, other) => one.first - other.first);
    this.#isSorted = true;
    let low = 0;
    for (let high = this.#ranges.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((this.#ranges[middle]?.end ?? 0) > row) high = middle;
      else low = middle + 1;
    }
    const range = this.#ranges[low];
    return range !== undefined && range.first <= row ? range.value : undefined;
  }
}

/** Makes the last range longer where the row continues it. */
export function addRow(ranges: RowRange[], step: number, row: number): void {
  const [lastStep, first, count] = ranges.at(-1) ?? [0, 0, 0];
  if (lastStep === step && first + count === row) ranges[ranges.length - 1] = [step, first, count + 1];
  else ranges.push([step, row, 1]);
}
