import { expect, test } from 'vitest';
import { RowEndNumbers, RowEndTable } from '../../../src/journal/row-status/row-ends.js';

test('rows keep their ends when there are more different ones than a byte, or two, can number', () => {
  const table = new RowEndTable();
  const codes = [0, 1, 254, 255, 256, 65_535, 65_536, 70_000];
  const numbers = Array.from({ length: 70_001 }, (_, code) =>
    table.numberOf({ status: 'rejected', code: `c${code}`, reason: '' }),
  );
  const ends = new RowEndNumbers(codes.length + 2);
  for (const [row, code] of codes.entries()) ends.set(row + 1, numbers[code] ?? 0);
  const found = codes.map((_, row) => table.endOf(ends.get(row + 1))?.code);
  expect(found).toEqual(codes.map((code) => `c${code}`));
  expect([ends.get(0), ends.get(codes.length + 1), ends.rows]).toEqual([0, 0, codes.length + 2]);
  ends.fill(numbers[70_000] ?? 0, 0, 2);
  expect(
    ends.find(
      table.select(({ code }) => code === 'c70000'),
      1,
    ),
  ).toBe(1);
});

test('accepted rows have one end, whatever code the service gave them', () => {
  const table = new RowEndTable();
  const accepted = { status: 'accepted', code: 'QUEUED', reason: '' } as const;
  expect(table.numberOf(accepted)).toBe(table.numberOf({ ...accepted, code: 'SENT' }));
  expect(table.endOf(table.numberOf(accepted))).toEqual({ status: 'accepted', code: '' });
});
