import type { RowVerdict } from '../../domain/row.js';

/** The end of a row, as far as it is kept per row. */
export interface RowEnd {
  readonly status: RowVerdict['status'];
  /** '' for accepted rows: their many codes stay in the journal. */
  readonly code: string;
}

/** Numbers the distinct ends of a run's rows, from 1. */
export class RowEndTable {
  readonly #ends: (RowEnd | undefined)[] = [undefined];
  readonly #numbers = new Map<string, number>();

  numberOf({ status, code }: RowVerdict): number {
    const kept = status === 'accepted' ? '' : code;
    const key = `${status} ${kept}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#ends.push({ status, code: kept }) - 1;
      this.#numbers.set(key, number);
    }
    return number;
  }

  /** Undefined for 0: a row without an end. */
  endOf(number: number): RowEnd | undefined {
    return this.#ends[number];
  }

  /** By number: whether the end is wanted. Covers the ends known so far. */
  select(isWanted: (end: RowEnd) => boolean): readonly boolean[] {
    return this.#ends.map((end) => end !== undefined && isWanted(end));
  }
}

/** The number of the end of each row of a step; 0 for none. One byte a row while there are at most 255 different ends, then two, then four. */
export class RowEndNumbers {
  #numbers: Uint8Array | Uint16Array | Uint32Array;
  #most = 0xff;

  constructor(rows: number) {
    this.#numbers = new Uint8Array(rows);
  }

  get rows(): number {
    return this.#numbers.length;
  }

  get(row: number): number {
    return this.#numbers[row] ?? 0;
  }

  set(row: number, number: number): void {
    if (number > this.#most) this.#widen(number);
    this.#numbers[row] = number;
  }

  fill(number: number, first: number, end: number): void {
    if (number > this.#most) this.#widen(number);
    this.#numbers.fill(number, first, end);
  }

  /** The next row from `from` on whose end is wanted; -1 where there is none. */
  find(isWanted: readonly boolean[], from: number): number {
    const numbers = this.#numbers;
    for (let row = from; row < numbers.length; row++) if (isWanted[numbers[row] ?? 0]) return row;
    return -1;
  }

  #widen(number: number): void {
    this.#numbers = number > 0xffff ? Uint32Array.from(this.#numbers) : Uint16Array.from(this.#numbers);
    this.#most = number > 0xffff ? 0xffffffff : 0xffff;
  }
}
