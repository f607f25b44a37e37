import { expect } from 'vitest';
import { RowWriter } from '../../src/domain/bytes/row-writer.js';
import { type Cell, cellsOf } from '../../src/domain/row.js';
import { bindWhere, type RowFilter } from '../../src/filter/bind-where.js';
import type { StepNumbers } from '../../src/filter/compile-country-test.js';
import { findColumn } from '../../src/input/own-columns.js';
import { writtenWhere } from '../../src/job/schema/written-where.js';

/** Of a step without a column of numbers. */
export const NONE: StepNumbers = { column: undefined, country: undefined, countryColumn: undefined };

/** What becomes of rows under a `where` as a person writes it; each is asked as texts and as bytes, which must agree. */
export function aFilter(
  written: unknown,
  columns: readonly string[],
  numbers = NONE,
): (cells: readonly Cell[]) => string {
  const filter = bindWhere(writtenWhere.parse(written), columns, { findColumn, numbers });
  if ('problems' in filter) throw new Error(filter.problems[0]?.message);
  return (cells) => {
    const said = nameOf(filter.refuse(cellsOf(cells)));
    expect(nameOf(filter.refuse(asBytes(cells)))).toBe(said);
    return said;
  };
}

function asBytes(cells: readonly Cell[]) {
  const writer = new RowWriter(cells.length);
  // Not the first row of its block.
  for (let row = 0; row < 2; row += 1) writer.add({ cells, line: row + 2, fault: undefined });
  const rows = writer.cells;
  rows.row = 1;
  return rows;
}

function nameOf(refusal: ReturnType<RowFilter['refuse']>): string {
  if (refusal === undefined) return 'in';
  return refusal.kind === 'rejected' ? `bad ${refusal.rejection.field}` : refusal.skip.reason;
}

export const answerTo = (condition: unknown, cell: Cell) => {
  const said = aFilter({ cell: condition }, ['cell'])([cell]);
  return said === 'in' ? 'in' : said.startsWith('bad') ? 'bad' : 'out';
};
