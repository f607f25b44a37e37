import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { cellsOf } from '../../src/domain/bytes/row-writer.js';
import type { Cell } from '../../src/domain/row.js';
import { bindWhere } from '../../src/filter/bind-rows.js';
import { writtenWhere } from '../../src/job/schema/written-where.js';
import { Columns } from '../../src/normalize/columns.js';
import { runsOf } from '../one-in.js';
import { aFilter, answerTo, NONE } from './a-filter.js';

const DAY = '2026-01-31';
const NOON = '2026-01-31T12:00:00+08:00';

/** Operator, cells that take part, cells that do not, cells that cannot be compared. */
const OPERATORS: readonly (readonly [string, unknown, readonly string[], readonly string[], readonly string[]])[] = [
  [
    'a text',
    'yes',
    ['yes', 'YES', ' Yes ', '\u00a0yes\u200b', '\tyes\r'],
    ['no', 'y', 'yess', 'ye s', '"yes"', 'да'],
    [],
  ],
  ['a text beyond ASCII', 'Ömer Straße', ['ömer strasse', 'O\u0308MER STRASSE'], ['omer strasse'], []],
  ['a word of the file', { equals: 'present' }, ['present', 'PRESENT'], ['absent'], []],
  ['true', true, ['true', 'TRUE', ' True '], ['false', '1', 'yes'], []],
  [
    'a number',
    10,
    ['10', '10.0', '+10', '010', ' 10 ', '1e1'],
    ['11', '-10', '0'],
    ['ten', '10 EUR', '1,000', '10.', '0x0a', '10.000', '9007199254740993'],
  ],
  ['a list', ['SG', 'my'], ['sg', 'MY', ' My'], ['DE', 'SGMY', 'S'], []],
  ['a list of numbers', [1, 2.5], ['1', '2.50'], ['2', '3'], ['one']],
  ['a long list', Array.from({ length: 100 }, (_, at) => `code-${at}`), ['CODE-99'], ['code-100'], []],
  ['exactly', { equals: 'Yes', exact: true }, ['Yes'], ['yes', ' Yes', 'Yes '], []],
  ['not a text', { not: 'vip' }, ['gold', 'vi p', 'vıp!'], ['vip', 'VIP ', ' Vip'], []],
  ['not a list', { not: ['vip', 'staff'] }, ['gold'], ['VIP', 'Staff'], []],
  ['not a number', { not: 0 }, ['1', '-1'], ['0', '0.00', '-0'], ['none']],
  ['not exactly', { not: 'vip', exact: true }, ['VIP', 'vip '], ['vip'], []],
  [
    'at least',
    { atLeast: 100 },
    ['100', '100.00', '1e3', '+250.5'],
    ['99.99', '-100', '0'],
    ['n/a', '€100', '1.000,50', '100-', 'NaN', 'Infinity', '1.234', '-1.234', '12.500', '999.000', '1.234.567'],
  ],
  [
    'of three decimals that can be nothing else',
    { atMost: 1 },
    ['0.125', '-0.500', '0.000'],
    ['1234.567', '1.2340'],
    [],
  ],
  [
    'at least, as Germany writes it',
    { atLeast: 500, format: '1.234,56' },
    ['500', '500,00', '1.234', '1.234,56', '+1.234.567,8', '1234,5', ' 12.500 '],
    ['499,99', '12,5', '0,999', '-1.234', '1'],
    ['12.5', '1,234.56', '1.23,4', '1234.567', '.500', '500,', '1.234 EUR', '1e3', '1 234'],
  ],
  [
    'at least, as England writes it',
    { atLeast: 500, format: '1,234.56' },
    ['500', '1,234', '1,234.56', '1234.5', '1234.567'],
    ['1.234', '12.500', '499.99'],
    ['1.234,56', '1,23', '1,2345', '12,5'],
  ],
  [
    'at least, as France writes it',
    { atLeast: 500, format: '1 234,56' },
    ['1 234,56', '1\u00a0234', '1\u202f234,5', '1234'],
    ['499,99'],
    ['1.234', '1,234.56', '1 23'],
  ],
  [
    'at least, as Switzerland writes it',
    { atLeast: 500, format: "1'234.56" },
    ['1’234', "1'234.50"],
    ['1.234'],
    ['1,234'],
  ],
  ['at least, without separators of thousands', { atLeast: 500, format: '1234,56' }, ['500,5'], ['1,234'], ['1.234']],
  ['at least, with three decimals', { atLeast: 500, format: '1234.56' }, ['500.125'], ['1.234'], ['1,234']],
  ['a number in a format', { equals: [1234, 2], format: '1.234,56' }, ['1.234', '2,0'], ['1,234'], ['1.2']],
  ['not a number in a format', { not: 1234, format: '1.234,56' }, ['1,234'], ['1.234,00'], ['1.2']],

  ['at most', { atMost: -1.5 }, ['-1.5', '-2', '-1e9'], ['-1.49', '0'], ['--2']],
  ['between', { atLeast: 0, atMost: 10 }, ['0', '10', '5'], ['-1', '11'], ['x']],
  ['at least, and not', { atLeast: 5, not: 7 }, ['5', '8'], ['7', '4'], ['seven']],
  [
    'after a day',
    { after: DAY },
    ['2026-02-01', '2026-02-01T00:00', '2027-01-01'],
    ['2026-01-31', '2026-01-31T23:59:59', '2025-12-31'],
    ['31.01.2026', '2026-02-30', '2026-1-31', 'soon', '20260201', '2026-02-01T25:00'],
  ],
  [
    'before a day',
    { before: DAY },
    ['2026-01-30', '2026-01-30T23:59:59Z'],
    ['2026-01-31', '2026-01-31 08:00'],
    ['30/01/2026'],
  ],
  ['between days', { after: '2026-01-01', before: DAY }, ['2026-01-02', '2026-01-30'], ['2026-01-01', DAY], ['?']],
  [
    'a day as the file writes it',
    { after: DAY, format: 'dd.MM.yyyy' },
    ['01.02.2026', ' 01.02.2026 '],
    ['31.01.2026'],
    ['2026-02-01', '1.2.2026', '31.02.2026'],
  ],
  [
    'after a moment',
    { after: NOON },
    ['2026-01-31T04:00:01Z', '2026-01-31T12:00:00.000+07:59'],
    ['2026-01-31T04:00:00Z', '2026-01-31 13:59:59 +10:00'],
    ['2026-02-01', '2026-02-01T12:00:00'],
  ],
  ['blank', 'blank', [], ['x', '0', '-', 'n/a', '\\', 'é'], []],
  ['present', 'present', ['x', '0', '-', 'n/a', '\\', 'é', ' é '], [], []],
];

const BLANKS: readonly Cell[] = ['', ' ', '\t', '\u00a0', '\u200b\u2060', undefined];

describe.each(OPERATORS)('%s', (name, condition, takePart, leftOut, unreadable) => {
  it.each(takePart)('%j takes part', (cell) => expect(answerTo(condition, cell)).toBe('in'));
  it.each(leftOut)('%j does not', (cell) => expect(answerTo(condition, cell)).toBe('out'));
  it.each(unreadable)('%j cannot be compared', (cell) => expect(answerTo(condition, cell)).toBe('bad'));
  it.each(BLANKS)('a blank cell %j takes part for blank alone', (cell) =>
    expect(answerTo(condition, cell)).toBe(name === 'blank' ? 'in' : 'out'),
  );
});

const COLUMNS = ['consent', 'Country', 'spend', 'profile.name'];

test.each([
  [{ atLeast: 1 }, /1.234 for 1234, say so with format: "1.234,56"; where it has three decimals/],
  [{ atLeast: 1, format: '1.234,56' }, /expected a number written as 1\.234,56, .* or a blank cell$/],
  [{ after: DAY }, /writes 31\.01\.2026, say so with format: dd\.MM\.yyyy$/],
])('a cell that cannot be compared is rejected with what to write in the job: %j', (condition, reason) => {
  const refuse = bindWhere(writtenWhere.parse({ cell: condition }), new Columns(['cell']), NONE);
  const refusal = refuse(cellsOf(['1.23.4']));
  expect(refusal?.kind === 'rejected' ? refusal.rejection.reason : '').toMatch(reason);
});

test('days before the plan compare nothing until they are fixed', () => {
  expect(() => aFilter({ cell: { after: '90 days ago' } }, ['cell'])).toThrow('not fixed');
});

test('all conditions of a map must hold; the first that does not is named', () => {
  const filter = aFilter({ consent: 'yes', country: ['SG', 'MY'], spend: { atLeast: 100 } }, COLUMNS);
  expect(filter(['yes', 'sg', '100', ''])).toBe('in');
  expect(filter(['no', 'de', '1', ''])).toBe('filter: consent: yes');
  expect(filter(['yes', 'de', '1', ''])).toBe('filter: country: [SG, MY]');
  expect(filter(['yes', 'sg', '1', ''])).toBe('filter: spend: { atLeast: 100 }');
});

test('of a list of maps one must hold; else the clause of each is named', () => {
  const filter = aFilter([{ consent: 'yes', country: 'SG' }, { 'profile.name': 'present' }], COLUMNS);
  expect(filter(['yes', 'SG', '', ''])).toBe('in');
  expect(filter(['no', 'DE', '', 'Ann'])).toBe('in');
  expect(filter(['yes', 'DE', '', ' '])).toBe('filter: country: SG or profile.name: present');
});

test('a cell that cannot be compared rejects a row only where the row hangs on it', () => {
  const both = aFilter({ spend: { atLeast: 100 }, consent: 'yes' }, COLUMNS);
  expect(both(['yes', '', 'n/a', ''])).toBe('bad spend');
  expect(both(['no', '', 'n/a', ''])).toBe('filter: consent: yes');
  const either = aFilter([{ spend: { atLeast: 100 } }, { consent: 'yes' }], COLUMNS);
  expect(either(['yes', '', 'n/a', ''])).toBe('in');
  expect(either(['no', '', 'n/a', ''])).toBe('bad spend');
});

test('a column that no file has is named with the columns that there are, and the nearest', () => {
  const where = writtenWhere.parse([{ consent: 'yes' }, { contry: 'SG' }]);
  const columns = new Columns(COLUMNS);
  bindWhere(where, columns, NONE);
  expect(columns.problems).toEqual([
    {
      message: "input.where: no column matches 'contry'; columns: consent, Country, spend, profile.name",
      hint: 'Did you mean "Country"?',
      at: ['input', 'where', 1, 'contry'],
    },
  ]);
});

test('a clause of many values is named by the first of them', () => {
  const filter = aFilter({ consent: Array.from({ length: 1000 }, (_, at) => `code-${at}`) }, COLUMNS);
  expect(filter(['x', '', '', ''])).toMatch(/^filter: consent: \[code-0, code-1, .*…$/);
  expect(filter(['x', '', '', '']).length).toBeLessThan(100);
});

/** The rules of the reference in the plainest code; undefined is what is unknown. */
type Written = {
  equals?: unknown;
  not?: unknown;
  atLeast?: number;
  atMost?: number;
  before?: string;
  after?: string;
  exact?: boolean;
};

function plainly(condition: string | number | readonly unknown[] | Written, cell: Cell): boolean | undefined {
  const text = cell ?? '';
  const isBlank = text.replaceAll('\u200b', '').trim() === '';
  if (condition === 'blank') return isBlank;
  if (isBlank) return false;
  if (condition === 'present') return true;
  if (typeof condition !== 'object' || Array.isArray(condition)) return plainly({ equals: condition }, cell);
  const { equals, not, atLeast, atMost, before, after, exact } = condition as Written;
  const same = (value: unknown) => {
    if (typeof value === 'number') return numberIn(text) === undefined ? undefined : numberIn(text) === value;
    return exact ? text === value : fold(text) === fold(String(value));
  };
  const answers: (boolean | undefined)[] = [];
  const any = (values: unknown[]) =>
    values.map(same).includes(undefined) ? undefined : values.some((value) => same(value));
  if (equals !== undefined) answers.push(any([equals].flat()));
  if (not !== undefined) answers.push(negate(any([not].flat())));
  const number = numberIn(text);
  if (atLeast !== undefined) answers.push(number === undefined ? undefined : number >= atLeast);
  if (atMost !== undefined) answers.push(number === undefined ? undefined : number <= atMost);
  const day = /^\s*(\d{4}-(?:01|03)-(?:0[1-9]|[12]\d|3[01]))(?:T\d\d:\d\d)?\s*$/.exec(text)?.[1];
  if (before !== undefined) answers.push(day === undefined ? undefined : day < before);
  if (after !== undefined) answers.push(day === undefined ? undefined : day > after);
  return every(answers);
}

const fold = (text: string) => text.replaceAll('\u200b', '').trim().normalize('NFC').toUpperCase().toLowerCase();
const numberIn = (text: string) => (/^[+-]?\d{1,15}(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined);
const negate = (said: boolean | undefined) => (said === undefined ? undefined : !said);
const every = (answers: readonly (boolean | undefined)[]) =>
  answers.includes(false) ? false : answers.includes(undefined) ? undefined : true;
const some = (answers: readonly (boolean | undefined)[]) =>
  answers.includes(true) ? true : answers.includes(undefined) ? undefined : false;

const words = fc.constantFrom('yes', 'No', 'é', 'É', 'Straße', 'STRASSE', 'vip"', 'a\\b', '漢');
const numbers = fc.oneof(fc.integer({ min: -20, max: 20 }), fc.constantFrom(0.5, -2.25, 100));
const days = fc.constantFrom('2026-01-05', '2026-01-31', '2026-03-01');
const cell: fc.Arbitrary<Cell> = fc.oneof(
  words,
  numbers.map(String),
  days,
  fc.constantFrom(
    '',
    ' ',
    undefined,
    '\u200b',
    '2026-01-05T10:00',
    'n/a',
    '1.50',
    '+7',
    '-',
    '007',
    '1,5',
    '\n',
    '2026-01-32',
  ),
  fc
    .tuple(fc.constantFrom('', ' ', '\t', '\u00a0'), words, fc.constantFrom('', '  ', '\u200b'))
    .map((parts) => parts.join('')),
);
const valueOrList = (values: fc.Arbitrary<unknown>) =>
  fc.oneof(values, fc.array(values, { minLength: 1, maxLength: 4 }));
const operands = fc.oneof(valueOrList(words), valueOrList(numbers));
const comparison = fc
  .record(
    { equals: operands, not: operands, atLeast: numbers, atMost: numbers, before: days, after: days },
    { requiredKeys: [] },
  )
  .filter((map) => Object.keys(map).length > 0);
const exactly = fc.record({ equals: valueOrList(words), exact: fc.boolean() });
const condition = fc.oneof(fc.constantFrom('blank', 'present'), operands, comparison, exactly);
const group = fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c'), condition), {
  minLength: 1,
  selector: ([name]) => name,
});
const where = fc.array(group.map(Object.fromEntries), { minLength: 1, maxLength: 3 });

test('any where takes the rows that a plain predicate takes, as texts and as bytes', () => {
  fc.assert(
    fc.property(where, fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 20 }), (groups, rows) => {
      const filter = aFilter(groups.length === 1 ? groups[0] : groups, ['a', 'b', 'c']);
      for (const cells of rows) {
        const expected = some(
          groups.map((map) =>
            every(Object.entries(map).map(([name, each]) => plainly(each as never, cells['abc'.indexOf(name)]))),
          ),
        );
        const said = filter(cells);
        expect(said === 'in' ? true : said.startsWith('bad') ? undefined : false).toBe(expected);
      }
    }),
    { numRuns: runsOf(2000) },
  );
});
