import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cellsOf } from '../../src/domain/bytes/row-writer.js';
import { CellCounts } from '../../src/filter/filter-tally.js';

function count(cells: readonly string[]): CellCounts {
  const counts = new CellCounts();
  for (const cell of cells) counts.add(cellsOf([cell]), [0]);
  return counts;
}

const times = (value: string, rows: number) => Array<string>(rows).fill(value);

test('cells are counted without the blanks around them, the commonest first', () => {
  const cells = [
    ...times('DE', 3),
    ' DE',
    ...times('Ger"many', 2),
    '',
    ' ',
    'Österreich\u00a0',
    ...times('Österreich', 4),
  ];
  expect(count(cells).list()).toEqual([
    { value: 'Österreich', rows: 5 },
    { value: 'DE', rows: 4 },
    { value: '', rows: 2 },
    { value: 'Ger"many', rows: 2 },
  ]);
});

test('cells that mostly differ are not listed: they may be names', () => {
  const names = Array.from({ length: 30 }, (_, at) => `Name ${at}`);
  expect(count([...times('Ann', 10), ...names]).list()).toEqual([]);
  expect(count([...times('Ann', 70), ...names]).list()[0]).toEqual({ value: 'Ann', rows: 70 });
});

test.each(['+6591234567', '0171 234 56 78', 'ann@example.com', 'x: 1234567'])(
  '%s is not listed, however often it stands there',
  (cell) => {
    expect(count([...times(cell, 5), 'no']).list()).toEqual([{ value: 'no', rows: 1 }]);
  },
);

test.each(['2026-01-31', '31.01.2026 08:00', '250,000'])('%s is', (cell) => {
  expect(count(times(cell, 5)).list()).toEqual([{ value: cell, rows: 5 }]);
});

test('a thousand different cells are counted and no more; those that came before still count', () => {
  const many = Array.from({ length: 3000 }, (_, at) => `value ${at}`);
  const counts = count(['DE', ...many, ...times('DE', 4000), 'x'.repeat(100)]);
  expect(counts.rows).toBe(7002);
  expect(counts.all()).toHaveLength(1000);
  expect(counts.list()[0]).toEqual({ value: 'DE', rows: 4001 });
});

test('any cells are counted alike as texts and as bytes', () => {
  const cell = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'é', '"', '\\', '\n', ' ', '漢'), maxLength: 4 }),
    fc.string({ unit: 'binary', maxLength: 70 }),
  );
  fc.assert(fc.property(fc.array(cell, { maxLength: 60 }), (cells) => void count(cells)));
});
