import { z } from 'zod';
import { isBlank } from '../../domain/text.js';
import { normalizeCountry } from '../../normalize/country.js';
import { findBadInputFormat, findBadNumberFormat } from '../../template/dates-and-numbers.js';
import { columnName } from './values.js';
import { expected, rule, type ValueFault } from './words.js';

/** Which rows of an input take part: all conditions of one of the groups must hold. */
export type Where = readonly (readonly Condition[])[];

/** What one column must be: every test must hold. A blank cell holds for `blank` alone. */
export interface Condition {
  readonly column: string;
  readonly tests: readonly CellTest[];
}

export type CellTest =
  /** Numbers are compared as numbers, `format` as below. Texts without the blanks around them and without case, save where `exact`. */
  | {
      readonly op: 'equals' | 'not';
      readonly values: readonly string[] | readonly number[];
      readonly exact: boolean;
      readonly format?: string | undefined;
    }
  /** Compares countries: the cell is a country, written in any way, or a number, whose country counts. `values`: ISO alpha-2. */
  | CountryTest
  /** `format`: how the cells write 1234.56, such as `1.234,56`; absent: with a point and no separators. */
  | { readonly op: 'atLeast' | 'atMost'; readonly bound: number; readonly format?: string | undefined }
  /**
   * `bound`: a day, or a time with its offset, in ISO 8601; of a job that is not yet planned also a day such as `90 days ago`
   * (planned-job.ts). `format`: of the cells; undefined: ISO 8601.
   */
  | { readonly op: 'before' | 'after'; readonly bound: string; readonly format: string | undefined }
  | { readonly op: 'blank' | 'present' };

export interface CountryTest {
  readonly op: 'equals' | 'not';
  readonly as: 'country';
  readonly values: readonly string[];
}

/** A day before the day of the plan, as a job may write it in `where`. */
export const DAYS_AGO: RegExp = /^(?:today|(\d{1,4}) (day|week|month|year)s? ago)$/;

/** Larger numbers of a job file may have lost digits already. */
const MAX_EXACT = 1e15;

const scalars = [
  z.string().refine((text) => !isBlank(text), 'expected text, or the word blank for cells without any'),
  z.number().refine((number) => Math.abs(number) < MAX_EXACT, 'expected it in quotes: the number has too many digits'),
  z.boolean(),
] as const;
const value = z.union(scalars, { error: expected('text, a number, true or false') });
type Value = z.output<typeof value>;

const values = z
  .array(value)
  .min(1)
  .refine(
    (list) => new Set(list.map((each) => typeof each === 'number')).size < 2,
    'expected only texts or only numbers; put numbers that are texts in quotes',
  );

/** Alone they say something of the cell; in a list, or behind `not`, one could not tell. */
const CELL_WORDS: readonly unknown[] = ['blank', 'present'];

function withoutWords<T extends z.ZodType>(schema: T): T {
  return schema.refine(
    (written) => ![written].flat().some((each) => CELL_WORDS.includes(each)),
    'expected blank and present alone, as in email: present; for cells that hold the word write equals: present',
  );
}

const valueOrList = z.union([value, values], { error: expected('a value or a list of values') });

const DAY_OR_TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d))?$/;

const moment = z
  .string()
  .regex(
    new RegExp(`${DAY_OR_TIME.source}|${DAYS_AGO.source}`),
    'expected a date such as 2026-01-31 or 90 days ago, or a time with its offset, such as 2026-01-31T09:00:00+08:00',
  )
  .refine((text) => DAYS_AGO.test(text) || exists(text), 'expected a day that exists');

/** Whether a day exists: V8 reads 30 February as 2 March. */
function exists(text: string): boolean {
  const day = text.slice(0, '2026-01-31'.length);
  // V8 also reads 6/1/2026 10:00, of which these are no day.
  return (
    Number.isFinite(Date.parse(text)) && Number.isFinite(Date.parse(day)) && new Date(day).toISOString().startsWith(day)
  );
}

const comparisonKeys = z.strictObject({
  equals: valueOrList.optional().describe('The value, or one of a list.'),
  not: withoutWords(valueOrList).optional().describe('Any other value. A blank cell is no value.'),
  atLeast: z.number().optional().describe('A number that is not smaller.'),
  atMost: z.number().optional().describe('A number that is not larger.'),
  before: moment.optional().describe('A date before this one: ISO 8601, or such as 90 days ago.'),
  after: moment.optional().describe('A date after this one: ISO 8601, or such as 90 days ago.'),
  format: z
    .string()
    .optional()
    .describe(
      'How the file writes its dates, such as dd.MM.yyyy, ISO 8601 by default; or its numbers, such as "1.234,56", by default with a point and no separators.',
    ),
  exact: z.boolean().optional().describe('true: blanks around a text and its case count.'),
  as: z
    .literal('country')
    .optional()
    .describe('country: names and codes of a country are the same, in the usual languages; of a number its country.'),
});

type Comparison = z.output<typeof comparisonKeys>;

const comparison = comparisonKeys.superRefine((written, context) => {
  // What is no key has been named.
  if (context.issues.length > 0) return;
  rule(written.as === undefined ? findFault : findCountryFault)(written, context);
});

function findFault(written: Comparison): ValueFault | string | undefined {
  const { equals, not, atLeast, atMost, before, after, format, exact } = written;
  const moments = [before, after].filter((each) => each !== undefined);
  const values = [equals, not].flat().filter((each) => each !== undefined);
  const texts = values.filter((each) => typeof each !== 'number');
  const hasNumbers = texts.length < values.length || atLeast !== undefined || atMost !== undefined;
  if (Object.keys(written).every((key) => key === 'format' || key === 'exact'))
    return 'expected at least one of equals, not, atLeast, atMost, before, after';
  if (exact === true && texts.length === 0) return 'expected equals or not with a text beside exact';
  if (format === undefined) return undefined;
  if (hasNumbers === moments.length > 0)
    return 'expected either before or after beside format, or a comparison with a number';
  if (moments.some((each) => each.includes('T'))) return 'expected before and after as days: a format has no offset';
  const fault = (hasNumbers ? findBadNumberFormat : findBadInputFormat)(format);
  if (fault === undefined) return undefined;
  return { message: hasNumbers ? fault : `is ${JSON.stringify(format)}, ${fault}`, path: ['format'] };
}

function findCountryFault({ as: _as, equals, not, ...others }: Comparison): ValueFault | string | undefined {
  if ((equals ?? not) === undefined || Object.keys(others).length > 0)
    return 'expected equals or not beside as, and nothing else';
  for (const [key, values] of Object.entries({ equals, not })) {
    for (const value of [values ?? []].flat()) {
      const found = normalizeCountry(String(value));
      if (!found.ok) return { message: `cannot be compared: ${found.reason.replace(/\.$/, '')}`, path: [key] };
    }
  }
  return undefined;
}

const condition = z.union([z.enum(['blank', 'present']), ...scalars, withoutWords(values), comparison], {
  error: expected('a value, a list of values, blank, present, or a map of equals, not, atLeast, atMost, before, after'),
});

const group = z
  .record(columnName(), condition)
  .refine((map) => Object.keys(map).length > 0, 'expected at least one column')
  .meta({ id: 'conditions' });
type Group = z.output<typeof group>;

/** Which rows of an input take part, as a person writes it: it becomes a list of groups, with what is written short written out. */
export const writtenWhere = z
  .union([group, z.array(group).min(1)], { error: expected('a map of columns, or a list of such maps') })
  // Once in the schema, not in each kind of step.
  .meta({
    id: 'where',
    description: 'A map of conditions, which must all hold, or a list of such maps, of which one must.',
  })
  .transform((written): Where => [written].flat().map(fillGroup));

function fillGroup(group: Group): Where[number] {
  return Object.entries(group).map(([column, condition]) => ({ column, tests: listTests(condition) }));
}

function listTests(written: Group[string]): CellTest[] {
  if (written === 'blank' || written === 'present') return [{ op: written }];
  const comparison: Comparison = typeof written === 'object' && !Array.isArray(written) ? written : { equals: written };
  const { as, format, exact = false, equals, not, ...bounds } = comparison;
  const compare = (op: 'equals' | 'not', values: Value | Value[] | undefined): CellTest[] => {
    if (values === undefined) return [];
    return [
      as === undefined ? { op, values: fillValues(values), exact, format } : { op, as, values: fillCountries(values) },
    ];
  };
  const compared = BOUNDS.flatMap((op) =>
    bounds[op] === undefined ? [] : [{ op, bound: bounds[op], format } as CellTest],
  );
  return [...compare('equals', equals), ...compare('not', not), ...compared];
}

const BOUNDS = ['atLeast', 'atMost', 'before', 'after'] as const;

/** The schema holds that each is one. */
function fillCountries(written: Value | Value[]): string[] {
  const found = [written].flat().map((value) => normalizeCountry(String(value)));
  return found.flatMap((each) => (each.ok ? [each.country] : []));
}

/** The schema holds that all are numbers, or none. */
function fillValues(written: Value | Value[]): readonly string[] | readonly number[] {
  const values = [written].flat();
  const numbers = values.filter((value) => typeof value === 'number');
  return numbers.length > 0 ? numbers : values.map(String);
}
