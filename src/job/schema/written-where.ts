import { z } from 'zod';
import { type CellTest, type Condition, DAYS_AGO, type Where } from '../../domain/where.js';
import { normalizeCountry } from '../../normalize/country.js';
import { isBlank } from '../../template/blank.js';
import { findBadInputFormat } from '../../template/date-input.js';
import { findBadNumberFormat } from '../../template/number-input.js';
import { columnName } from './values.js';
import { expected } from './words.js';

/** Larger numbers of a job file may have lost digits already. */
const MAX_EXACT = 1e15;

const scalars = [
  z.string().refine((text) => !isBlank(text), 'expected text, or the word blank for cells without any'),
  z.number().refine((number) => Math.abs(number) < MAX_EXACT, 'expected it in quotes: the number has too many digits'),
  z.boolean(),
] as const;
const value = z.union(scalars, { error: expected('text, a number, true or false') });

const values = z
  .array(value)
  .min(1)
  .refine(
    (list) => new Set(list.map((each) => typeof each === 'number')).size < 2,
    'expected only texts or only numbers; put numbers that are texts in quotes',
  );

/** Alone they say something of the cell; in a list, or behind `not`, one could not tell. */
const CELL_WORDS: readonly unknown[] = ['blank', 'present'];
const PLAIN_WORD =
  'expected blank and present alone, as in email: present; for cells that hold the word write equals: ';

function withoutWords<T extends z.ZodType>(schema: T): T {
  return schema.refine(
    (written) => ![written].flat().some((each) => CELL_WORDS.includes(each)),
    `${PLAIN_WORD}present`,
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

/** Of 30 February, V8 makes 2 March. */
function exists(text: string): boolean {
  const day = text.slice(0, '2026-01-31'.length);
  const date = new Date(day);
  return Number.isFinite(Date.parse(text)) && date.toISOString().startsWith(day);
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
type Fault = { readonly message: string; readonly path?: string[] };

const comparison = comparisonKeys.superRefine((written, context) => {
  // What is no key has been named.
  if (context.issues.length > 0) return;
  const fault = written.as === undefined ? findFault(written) : findCountryFault(written);
  if (fault !== undefined) context.addIssue({ code: 'custom', ...fault });
});

function findFault(written: Comparison): Fault | undefined {
  const { equals, not, atLeast, atMost, before, after, format, exact } = written;
  const moments = [before, after].filter((each) => each !== undefined);
  const values = [equals, not].flat().filter((each) => each !== undefined);
  const texts = values.filter((each) => typeof each !== 'number');
  const hasNumbers = texts.length < values.length || atLeast !== undefined || atMost !== undefined;
  if (Object.keys(written).every((key) => key === 'format' || key === 'exact'))
    return { message: 'expected at least one of equals, not, atLeast, atMost, before, after' };
  if (format !== undefined && hasNumbers === moments.length > 0)
    return { message: 'expected either before or after beside format, or a comparison with a number' };
  if (format !== undefined && moments.some((each) => each.includes('T')))
    return { message: 'expected before and after as days: a format has no offset' };
  const findBad = hasNumbers ? findBadNumberFormat : findBadInputFormat;
  const fault = format === undefined ? undefined : findBad(format);
  if (fault !== undefined)
    return { message: hasNumbers ? fault : `is ${JSON.stringify(format)}, ${fault}`, path: ['format'] };
  if (exact === true && texts.length === 0) return { message: 'expected equals or not with a text beside exact' };
  return undefined;
}

function findCountryFault({ as: _as, equals, not, ...others }: Comparison): Fault | undefined {
  if ((equals ?? not) === undefined || Object.keys(others).length > 0)
    return { message: 'expected equals or not beside as, and nothing else' };
  for (const [key, values] of Object.entries({ equals, not })) {
    const message = findUnknownCountry([values ?? []].flat());
    if (message !== undefined) return { message: `cannot be compared: ${message}`, path: [key] };
  }
  return undefined;
}

function findUnknownCountry(values: readonly unknown[]): string | undefined {
  for (const value of values) {
    const found = normalizeCountry(String(value));
    if (!found.ok) return found.reason.replace(/\.$/, '');
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

/** Which rows of an input take part, as a person writes it. */
export const writtenWhere = z
  .union([group, z.array(group).min(1)], { error: expected('a map of columns, or a list of such maps') })
  // Once in the schema, not in each kind of step.
  .meta({
    id: 'where',
    description: 'A map of conditions, which must all hold, or a list of such maps, of which one must.',
  })
  .transform(fillWhere);

type Group = z.output<typeof group>;
type Value = z.output<typeof value>;

/** A list of groups, of which one must hold; what is written short is written out. */
function fillWhere(written: Group | Group[]): Where {
  return [written]
    .flat()
    .map((group) =>
      Object.entries(group).map(([column, condition]): Condition => ({ column, tests: fillTests(condition) })),
    );
}

function fillTests(written: Group[string]): CellTest[] {
  if (written === 'blank' || written === 'present') return [{ op: written }];
  if (typeof written === 'object' && !Array.isArray(written)) return fillComparison(written);
  return [{ op: 'equals', values: fillValues(written), exact: false }];
}

function fillComparison({
  equals,
  not,
  atLeast,
  atMost,
  before,
  after,
  format,
  exact = false,
  as,
}: z.output<typeof comparison>): CellTest[] {
  const tests: CellTest[] = [];
  if (as !== undefined) {
    if (equals !== undefined) tests.push({ op: 'equals', as, values: fillCountries(equals) });
    if (not !== undefined) tests.push({ op: 'not', as, values: fillCountries(not) });
    return tests;
  }
  const ofNumbers = format === undefined ? {} : { format };
  if (equals !== undefined) tests.push({ op: 'equals', values: fillValues(equals), exact, ...ofNumbers });
  if (not !== undefined) tests.push({ op: 'not', values: fillValues(not), exact, ...ofNumbers });
  if (atLeast !== undefined) tests.push({ op: 'atLeast', bound: atLeast, ...ofNumbers });
  if (atMost !== undefined) tests.push({ op: 'atMost', bound: atMost, ...ofNumbers });
  if (before !== undefined) tests.push({ op: 'before', bound: before, format });
  if (after !== undefined) tests.push({ op: 'after', bound: after, format });
  return tests;
}

/** The schema holds that each is one. */
function fillCountries(written: Value | readonly Value[]): string[] {
  return [written].flat().flatMap((value) => {
    const found = normalizeCountry(String(value));
    return found.ok ? [found.country] : [];
  });
}

/** The schema holds that all are numbers, or none. */
function fillValues(written: Value | readonly Value[]): readonly string[] | readonly number[] {
  const values = [written].flat() as Value[];
  const numbers = values.filter((value) => typeof value === 'number');
  return numbers.length > 0 ? numbers : values.map(String);
}
