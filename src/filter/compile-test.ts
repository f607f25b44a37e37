import type { ByteCells } from '../domain/bytes/row-block.js';
import { isBlank } from '../domain/text.js';
import type { RowStep } from '../job/job.js';
import type { CellTest, CountryTest } from '../job/schema/written-where.js';
import { kindOf } from '../kinds/kinds.js';
import { normalizeCountry } from '../normalize/country.js';
import { type NumberColumn, normalizeCell } from '../normalize/number/number.js';
import { isRealDate, readDate, readIsoDate, rewriteNumber } from '../template/dates-and-numbers.js';

/** A test of one cell. */
export interface CompiledTest {
  /**
   * Whether the test holds for `text`, a cell of the row `cells`; undefined where the cell cannot be read as what it is compared
   * with. A blank cell holds for `blank` alone.
   */
  holds(text: string, cells: ByteCells): boolean | undefined;
  /** What a cell is not that cannot be compared, for people. */
  readonly expected: string;
  /** What to write in the job where all cells are so. */
  readonly advice?: string;
}

/** A test as a closure, `as: country` aside (`compileCountryTest`). */
export function compileTest(test: Exclude<CellTest, CountryTest>): CompiledTest {
  switch (test.op) {
    case 'blank':
      return { holds: isBlank, expected: '' };
    case 'present':
      return { holds: (text) => !isBlank(text), expected: '' };
    case 'atLeast':
      return compareNumbers((number) => number >= test.bound, test.format);
    case 'atMost':
      return compareNumbers((number) => number <= test.bound, test.format);
    case 'before':
    case 'after':
      return compareMoments(test);
    case 'equals':
    case 'not': {
      const numbers = test.values.filter((value) => typeof value === 'number');
      const wanted = test.op === 'equals';
      if (numbers.length > 0) return compareNumbers((number) => numbers.includes(number) === wanted, test.format);
      return compileTextTest(test.op, test.values.map(String), test.exact);
    }
  }
}

/** Whether a text is one of some, or none of them. */
function compileTextTest(op: 'equals' | 'not', values: readonly string[], exact: boolean): CompiledTest {
  const fold = exact ? (text: string) => text : foldText;
  const folded = new Set(values.map(fold));
  return { holds: (text) => !isBlank(text) && folded.has(fold(text)) === (op === 'equals'), expected: '' };
}

function compareNumbers(holds: (number: number) => boolean, format: string | undefined): CompiledTest {
  const read = createNumberReader(format);
  return {
    holds: (text) => {
      if (isBlank(text)) return false;
      const number = read(text);
      return number === undefined ? undefined : holds(number);
    },
    ...describeNumbers(format),
  };
}

function describeNumbers(format: string | undefined): Pick<CompiledTest, 'expected' | 'advice'> {
  const more = 'without a unit, of at most 15 digits';
  if (format !== undefined) return { expected: `a number written as ${format}, ${more}` };
  return {
    expected: `a number such as 1250.50, ${more}`,
    advice:
      'Where a file writes 1.234 for 1234, say so with format: "1.234,56"; where it has three decimals, with format: "1234.56"',
  };
}

/** A day is compared with days, as they are written; a time with an offset with such times alone, since of others it is not known when they were. */
function compareMoments({ op, bound, format }: Extract<CellTest, { readonly op: 'before' | 'after' }>): CompiledTest {
  const day = readDay(bound, undefined);
  const isDay = bound.length === '2026-01-31'.length;
  const limit = isDay ? day : readInstant(bound);
  if (limit === undefined) throw new Error(`A date that is not fixed compares nothing: ${bound}`);
  const read = isDay ? (text: string) => readDay(text, format) : readInstant;
  return {
    holds: (text) => {
      if (isBlank(text)) return false;
      const moment = read(text);
      if (moment === undefined) return undefined;
      return op === 'before' ? moment < limit : moment > limit;
    },
    ...describeMoments(isDay, format),
  };
}

function describeMoments(isDay: boolean, format: string | undefined): Pick<CompiledTest, 'expected' | 'advice'> {
  if (format !== undefined) return { expected: `a date in the format ${format}` };
  if (!isDay) return { expected: 'a time with its offset, such as 2026-01-31T09:00:00+08:00' };
  return {
    expected: 'a date such as 2026-01-31',
    advice: 'Where a file writes 31.01.2026, say so with format: dd.MM.yyyy',
  };
}

/** The day of a date as it is written, in ISO 8601 or in `format`, as a number that grows with it: 20260131. Undefined for anything else, and for a day or time that there is not. */
function readDay(text: string, format: string | undefined): number | undefined {
  const written = readDate(text, format);
  if (written === undefined || !isRealDate(written)) return undefined;
  return written.year * 10_000 + written.month * 100 + written.day;
}

/** The moment of a cell in ISO 8601 with an offset, in milliseconds; undefined for anything else: of no other is it known. */
function readInstant(text: string): number | undefined {
  const { written, offset } = readIsoDate(text) ?? {};
  if (written === undefined || offset === undefined || !isRealDate(written)) return undefined;
  const { year, month, day, hour, minute, second } = written;
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(offset) ?? [];
  const shift = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000 * (sign === '-' ? -1 : 1);
  return Date.UTC(year, month - 1, day, hour, minute, second) - shift;
}

const ASCII = /^[\0-\x7f]*$/;

/** How texts are compared: without the blanks around them (the invisible ones too) and without case. Composed and decomposed letters are the same. */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.trim().toLowerCase();
  // By way of capitals, ß is ss, and the two small sigmas are one.
  return trimBlanks(text).normalize('NFC').toUpperCase().toLowerCase();
}

function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text[start])) start += 1;
  while (end > start && isBlank(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

const NUMBER = /^[+-]?(\d+)(?:\.(\d+))?(?:[eE][+-]?\d{1,3})?$/;
/** Numbers of more digits may be equal to another one. */
const MAX_EXACT_DIGITS = 15;

/** May be 1234 or 1.234: only a format says which. */
const AMBIGUOUS = /^[+-]?[1-9]\d{0,2}\.\d{3}$/;

/**
 * Reads cells as `format` says, blanks around them aside; without one a point and no separators of thousands, where 1.234 could be
 * either. Undefined for what is not written so, and for a number of too many digits.
 */
function createNumberReader(format: string | undefined): (text: string) => number | undefined {
  if (format === undefined) return (text) => (AMBIGUOUS.test(text.trim()) ? undefined : readNumber(text));
  return (text) => {
    const plain = rewriteNumber(text, format);
    return plain === undefined ? undefined : readNumber(plain);
  };
}

function readNumber(text: string): number | undefined {
  const match = NUMBER.exec(text.trim());
  if (match === null) return undefined;
  const digits = `${match[1]}${match[2] ?? ''}`.replace(/^0+/, '').length;
  return digits > MAX_EXACT_DIGITS ? undefined : Number(match[0]);
}

/** Which column of a step has the numbers that it sends to, and in which country those without + are read. */
export interface StepNumbers {
  readonly column: string | undefined;
  readonly country: string | undefined;
  readonly countryColumn: string | undefined;
}

export function numbersOf(step: RowStep): StepNumbers {
  const { country, countryColumn } = step.input;
  return { column: kindOf(step).numberColumn(step), country, countryColumn };
}

/**
 * Whether the country of a cell is one of some: of a country written in any way that `countryColumn` understands, or that of a
 * number. `isDestination`: a number that cannot be read is rejected by its own check, which says why.
 */
export function compileCountryTest(
  { op, values }: CountryTest,
  column: NumberColumn,
  { isDestination }: { readonly isDestination: boolean },
): CompiledTest {
  const wanted = new Set(values);
  return {
    holds: (text, cells) => {
      if (isBlank(text)) return false;
      const country = readCountry(text, column, cells);
      if (country === undefined) return isDestination ? true : undefined;
      return wanted.has(country) === (op === 'equals');
    },
    expected: 'a country by its name or code, or a number',
  };
}

/** The country of a cell, as a name, a code or a number; undefined for anything else. */
export function readCountry(text: string, column: NumberColumn, cells: ByteCells): string | undefined {
  // No name of a country has a digit, and no number can do without.
  if (!/\d/.test(text)) {
    const named = normalizeCountry(text);
    return named.ok ? named.country : undefined;
  }
  const number = normalizeCell(cells, column);
  return 'digits' in number ? number.country : undefined;
}
