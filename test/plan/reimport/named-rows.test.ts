import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RowTable } from '../../../src/plan/reimport/named-rows.js';

const anId = fc.record({
  file: fc.constantFrom('a', 'b.again-2'),
  row: fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 999_999_999_999_999 })),
});
const aValue = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 2 }));

test('has for each row what was kept of it last, as a map by the texts of their ids would', () => {
  const run = fc.property(fc.array(fc.tuple(anId, aValue)), anId, (kept, other) => {
    const [table, map] = [new RowTable(), new Map<string, number>()];
    for (const [id, value] of kept) {
      table.set(id, value);
      map.set(`${id.file} ${id.row}`, value);
    }
    for (const id of [...kept.map(([each]) => each), other])
      expect(table.get(id)).toBe(map.get(`${id.file} ${id.row}`));
  });
  fc.assert(run);
});

test('takes 4 bytes a row, so that rows of an export of ten million can come back', () => {
  const before = process.memoryUsage().arrayBuffers;
  const table = new RowTable();
  for (let row = 1; row <= 1_000_000; row++) table.set({ file: 'a', row }, row);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4_100_000);
  expect(table.get({ file: 'a', row: 1_000_000 })).toBe(1_000_000);
});
