import { describe, expect, it, test } from 'vitest';
import { bindWhere } from '../../src/filter/bind-rows.js';
import { writtenWhere } from '../../src/job/schema/written-where.js';
import { Columns } from '../../src/normalize/columns.js';
import { aFilter, answerTo, NONE } from './a-filter.js';

/** Condition, cells that take part, cells that do not, cells that cannot be compared. */
const CONDITIONS: readonly (readonly [string, unknown, readonly string[], readonly string[], readonly string[]])[] = [
  [
    'a country in whatever spelling, or that of a number',
    { as: 'country', equals: ['Deutschland', 'at', 'Großbritannien'] },
    [
      'DE',
      'de',
      ' Germany',
      'DEUTSCHLAND',
      'Alemania',
      'AUT',
      'Österreich',
      'Oesterreich',
      'UK',
      'England',
      '+49 151 12345678',
    ],
    ['CH', 'Schweiz', '+41 79 123 45 67', 'NO'],
    ['Europa', 'n/a', '-', '0151 12345678', '0043 664 1234567', '+49 151', 'Congo', '49'],
  ],
  [
    'not a country',
    { as: 'country', not: 'DE' },
    ['AT', 'Austria', '+436641234567'],
    ['de', 'Germany', '+4915112345678'],
    ['?'],
  ],
];

describe.each(CONDITIONS)('%s', (_name, condition, takePart, leftOut, unreadable) => {
  it.each(takePart)('%j takes part', (cell) => expect(answerTo(condition, cell)).toBe('in'));
  it.each(leftOut)('%j does not', (cell) => expect(answerTo(condition, cell)).toBe('out'));
  it.each(unreadable)('%j cannot be compared', (cell) => expect(answerTo(condition, cell)).toBe('bad'));
  it('a blank cell does not', () => expect(answerTo(condition, ' ')).toBe('out'));
});

test('the country of a number without + is that of its row, or of the input; one that cannot be read is left to its own check', () => {
  const where = { mobile: { as: 'country', equals: 'DE' } };
  const numbers = { column: 'mobile', country: 'AT', countryColumn: 'Land' };
  const filter = aFilter(where, ['mobile', 'Land', 'phone'], numbers);
  expect(filter(['0151 12345678', 'Germany', ''])).toBe('in');
  expect(filter(['0664 1234567', '', ''])).toBe('filter: mobile: { as: country, equals: DE }');
  expect(filter(['0664 1234567', 'AT', ''])).toBe('filter: mobile: { as: country, equals: DE }');
  expect(filter(['12', 'DE', ''])).toBe('in');
  const other = aFilter({ phone: { as: 'country', equals: 'DE' } }, ['mobile', 'Land', 'phone'], numbers);
  expect(other(['', 'DE', '12'])).toBe('bad phone');
});

test.each([
  [
    { country: ['DE', 'AT'] },
    'Correct the name in the job, or the header of the file. For the country of the number write mobile: { as: country, equals: [DE, AT] }.',
  ],
  [
    { Land: { not: 'Deutschland' } },
    'Correct the name in the job, or the header of the file. For the country of the number write mobile: { as: country, not: Deutschland }.',
  ],
  [{ tag: 'vip' }, 'Correct the name in the job, or the header of the file.'],
])('countries of a column that is not there may be those of the numbers: %j', (where, hint) => {
  const numbers = { ...NONE, column: 'mobile' };
  const columns = new Columns(['mobile', 'name']);
  bindWhere(writtenWhere.parse(where), columns, numbers);
  expect(columns.problems[0]?.hint).toBe(hint);
});
