import { sumOf } from '../../domain/count-of.js';
import { remember } from '../../domain/is-object.js';
import { DESTINATION_COLUMN, isResultColumn } from '../../domain/output-columns.js';
import type { Cell } from '../../domain/row.js';
import type { NumberCode } from '../../domain/row-codes.js';
import { maskCell } from '../../normalize/mask.js';
import { acceptNumber, normalizeNumber } from '../../normalize/number/number.js';
import { trimNumber } from '../../normalize/number/number-library.js';

const UNREADABLE_SHOWN = 5;

/** Codes for numbers damaged by a spreadsheet or by hand. */
const DAMAGED: ReadonlySet<NumberCode> = new Set([
  'spreadsheet-number',
  'lost-plus',
  'lost-zero',
  'stray-apostrophe',
  'letters',
  'two-numbers',
]);

export interface SuppressionColumn {
  readonly name: string;
  /** Digits of E.164: of numbers whose country is written, by a + or beside them, and of those read in that of the list. */
  readonly international: number[];
  readonly national: number[];
  /** What national ones may be as well: with the + that a spreadsheet took, or in the country of the recipients. */
  readonly otherReadings: number[];
  /** Numbers that are written as no id is, with + or 0 in front. */
  marked: number;
  /** Cells that are neither blank nor a number, those that were one before they were damaged, and where the first stand. */
  unreadable: number;
  damaged: number;
  withoutCountry: number;
  readonly places: { readonly line: number; readonly shown: string; readonly code: NumberCode | 'date' }[];
}

export function createColumn(name: string, international: number[] = []): SuppressionColumn {
  const lists = { international, national: [], otherReadings: [], places: [] };
  return { name, ...lists, marked: 0, unreadable: 0, damaged: 0, withoutCountry: 0 };
}

export function listNumbers({ international, national, otherReadings }: SuppressionColumn): number[] {
  return [...international, ...national, ...otherReadings];
}

/** What a row says of the country of its numbers, and what the job says of those of the list. */
interface ListCountry {
  readonly ofRow: string;
  readonly ofList: string | undefined;
  readonly ofInput: string | undefined;
}

/** Finds the columns of a suppression list that hold numbers. */
export class SuppressionColumns {
  readonly #columns = new Map<number, SuppressionColumn>();

  /**
   * `names`: of the columns. `only`: index of the one that the job names; undefined: whichever holds numbers. In results, only
   * the number counts, since ids may look like numbers.
   */
  add(
    { cells, line }: { readonly cells: readonly Cell[]; readonly line: number },
    country: ListCountry,
    { names, only }: { readonly names: readonly string[]; readonly only: number | undefined },
  ): void {
    for (const [index, cell] of cells.entries()) {
      if (cell === undefined || cell.trim() === '' || (only !== undefined && index !== only)) continue;
      const name = names[index] ?? '';
      if (only === undefined && isResultColumn(name) && name !== DESTINATION_COLUMN) continue;
      const column = remember(this.#columns, index, () => createColumn(name));
      this.#addCell(column, { cell, line }, country);
    }
  }

  #addCell(column: SuppressionColumn, { cell, line }: { cell: string; line: number }, country: ListCountry): void {
    const number = isDate(cell) ? undefined : normalizeNumber(cell, country.ofRow || country.ofList);
    if (number?.ok === true) {
      const isNational = country.ofRow === '' && acceptNumber(cell, undefined)?.e164 !== number.e164;
      column[isNational ? 'national' : 'international'].push(Number(number.e164));
      if (MARKED.test(cell)) column.marked += 1;
      if (isNational) {
        const others = [acceptNumber(`+${trimNumber(cell)}`, undefined), acceptNumber(cell, country.ofInput)];
        column.otherReadings.push(...others.flatMap((each) => (each === undefined ? [] : Number(each.e164))));
      }
      return;
    }
    const code = number?.code ?? 'date';
    column.unreadable += 1;
    if (code === 'no-country') column.withoutCountry += 1;
    if (code !== 'date' && wasNumber(code, cell)) column.damaged += 1;
    if (column.places.length < UNREADABLE_SHOWN) {
      // Masked, since problems reach terminals and logs.
      const shown = code === 'date' ? cell.trim() : maskCell(code, cell);
      column.places.push({ line, shown, code });
    }
  }

  /** Columns of which at least half is valid numbers, or any cell is one with + or 0 in front, was one before it was damaged, or lacks only its country. */
  get counting(): SuppressionColumn[] {
    return this.all.filter(({ international, national, marked, unreadable, damaged, withoutCountry }) => {
      const valid = international.length + national.length;
      return marked > 0 || damaged > 0 || (valid > 0 && (valid >= unreadable || withoutCountry > 0));
    });
  }

  /** Every column with a cell that is not blank. */
  get all(): readonly SuppressionColumn[] {
    return [...this.#columns].sort(([one], [other]) => one - other).map(([, column]) => column);
  }
}

/** Whether a cell that is no number was one, by all that can be said of it without its country. */
function wasNumber(code: NumberCode, cell: string): boolean {
  if (code === 'no-country') return NATIONAL.test(cell);
  return DAMAGED.has(code) || INTERNATIONAL.test(cell);
}

/** A cell that may be a number of its country: ids seldom begin with 0. */
const NATIONAL = /^\s*\(?[0\uFF10\u0660\u06F0](?:\P{Nd}{0,2}\p{Nd}){6,}\s*$/u;

/** In the digits of whatever script a number is read in. */
const MARKED = /^[^\p{Nd}+\uFF0B]*[+\uFF0B0\uFF10\u0660\u06F0]/u;
/** An international number, among other text too. */
const INTERNATIONAL = /[+\uFF0B]\p{Nd}(?:\P{Nd}{0,2}\p{Nd}){6,}/u;

/** A date as people and spreadsheets write it: many countries have numbers of these digits. */
function isDate(cell: string): boolean {
  const [, first, , second, third] = /^(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?:[T ]|$)/.exec(cell.trim()) ?? [];
  if (first === undefined || second === undefined || third === undefined) return false;
  const [days, year] = first.length > 2 ? [[second, third], first] : [[first, second], third];
  const [low = 0, high = 0] = days.map(Number).sort((a, b) => a - b);
  const isYear = year.length === 2 || /^(?:19|20)\d\d$/.test(year);
  return isYear && low >= 1 && low <= 12 && high <= 31;
}

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
