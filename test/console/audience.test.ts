import { expect, test } from 'vitest';
import {
  describeAudience,
  findMixed,
  findUnasked,
  listTickable,
  nameTick,
  readTicks,
  toTicks,
  toWrittenWhere,
} from '../../src/console/audience.js';

const SAMPLE = {
  columns: ['mobile', 'City', 'note'],
  rows: [
    ['+6591234567', 'Singapore', 'n1'],
    ['+6591234568', ' singapore', 'n2'],
    ['+6591234569', 'KL', 'n3'],
    ['+6591234570', '', 'n4'],
  ],
  notInAll: [],
};

test.each([
  [undefined, []],
  [{ city: 'KL' }, [{ column: 'city', values: ['KL'] }]],
  [
    { city: ['KL', 'SG'], email: 'blank' },
    [
      { column: 'city', values: ['KL', 'SG'] },
      { column: 'email', values: [''] },
    ],
  ],
  [{ city: { equals: 'present' } }, [{ column: 'city', values: ['present'] }]],
  [[{ city: 'KL' }], [{ column: 'city', values: ['KL'] }]],
])('a where %j is shown as ticks, and written again as it was meant', (where, ticked) => {
  expect(toTicks(where)).toEqual(ticked);
  expect(toTicks(ticked.length === 0 ? undefined : toWrittenWhere(ticked))).toEqual(ticked);
});

test.each([
  { city: { not: 'KL' } },
  { city: { equals: 'KL', exact: true } },
  { land: { as: 'country', equals: 'SG' } },
  { age: 5 },
  { age: { atLeast: 5 } },
  { email: 'present' },
  [{ city: 'KL' }, { city: 'SG' }],
  { city: null },
  'city',
])('a where %j says what no tick does', (where) => {
  expect(toTicks(where)).toBeUndefined();
});

test('a form says what was ticked, whatever its columns and cells are', () => {
  const names = [nameTick('a"],["b', '<x>'), nameTick('a"],["b', ''), nameTick('c', '=1')];
  const ticked = readTicks({ token: 'x', 'list-0': 'on', ...Object.fromEntries(names.map((name) => [name, 'on'])) });
  expect(ticked).toEqual([
    { column: 'a"],["b', values: ['<x>', ''] },
    { column: 'c', values: ['=1'] },
  ]);
  expect(findMixed(ticked)?.column).toBe('a"],["b');
});

test('columns with few values can be ticked, spellings of one value together; the numbers cannot', () => {
  const many = { ...SAMPLE, rows: Array.from({ length: 60 }, (_, at) => [`${at}`, at % 2 ? 'KL' : 'SG', `n${at}`]) };
  expect(listTickable(many, [], 'Mobile').map(({ column }) => column)).toEqual(['City']);
  const [city, note, lost] = listTickable(
    SAMPLE,
    [
      { column: 'city', values: ['kl', 'Rome'] },
      { column: 'gone', values: ['x'] },
    ],
    'mobile',
  );
  expect(city).toEqual({
    column: 'city',
    values: [
      { value: 'Singapore', rows: 2, isTicked: false },
      { value: 'KL', rows: 1, isTicked: true },
      { value: '', rows: 1, isTicked: false },
      { value: 'Rome', rows: 0, isTicked: true },
    ],
  });
  expect([note?.column, lost]).toEqual(['note', { column: 'gone', values: [{ value: 'x', rows: 0, isTicked: true }] }]);
});

test('the first rows that take part are counted, condition by condition', () => {
  expect(describeAudience(SAMPLE, [])).toBe('In: 4 of the first 4 rows.');
  const ticked = [
    { column: 'city', values: ['SINGAPORE', 'KL'] },
    { column: 'note', values: ['n1', 'n4'] },
  ];
  expect(describeAudience(SAMPLE, ticked)).toBe(
    'In: 1 of the first 4 rows. city: [SINGAPORE, KL] leaves 3, then note: [n1, n4] leaves 1.',
  );
  expect(describeAudience(SAMPLE, [{ column: 'City', values: [''] }])).toContain('In: 1 of');
  expect(describeAudience(SAMPLE, [{ column: 'gone', values: ['x'] }])).toContain('In: 0 of');
});

test('a column of consent that no tick asks is named, until one does', () => {
  const sample = {
    columns: ['Name', 'Einwilligung'],
    rows: [
      ['Ann', 'ja'],
      ['Ben', 'nein'],
    ],
    notInAll: [],
  };
  expect(findUnasked(sample, [])).toEqual(['Einwilligung']);
  expect(findUnasked(sample, [{ column: 'einwilligung', values: ['ja'] }])).toEqual([]);
});
