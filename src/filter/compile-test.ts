import { isBlank } from '../domain/text.js';
import type { CellTest, CountryTest } from '../domain/where.js';
import { isRealDate, readIsoDate, readWrittenDate } from '../template/date-input.js';
import { type CompiledTest, createNumberReader, foldText } from './read-cell.js';

/** A test as a closure, `as: country` aside (compile-country-test.ts). */
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
      return compileTextTest({ ...test, values: test.values.map(String) });
    }
  }
}

/** Whether a text is one of some, or none of them. */
function compileTextTest({
  op,
  values,
  exact,
}: {
  readonly op: 'equals' | 'not';
  readonly values: readonly string[];
  readonly exact: boolean;
}): CompiledTest {
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
  const written = format === undefined ? readIsoDate(text)?.written : readWrittenDate(text, format);
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
