import { cellsOf } from '../../src/domain/bytes/row-writer.js';
import type { Cell } from '../../src/domain/row.js';
import { bindWhere } from '../../src/filter/bind-rows.js';
import type { StepNumbers } from '../../src/filter/compile-test.js';
import { writtenWhere } from '../../src/job/schema/written-where.js';
import { Columns } from '../../src/normalize/columns.js';

/** Of a step without a column of numbers. */
export const NONE: StepNumbers = { column: undefined, country: undefined, countryColumn: undefined };

/** What becomes of rows under a `where` as a person writes it; each is asked as texts and as bytes, which must agree. */
export function aFilter(
  written: unknown,
  columns: readonly string[],
  numbers = NONE,
): (cells: readonly Cell[]) => string {
  const bound = new Columns(columns);
  const refuse = bindWhere(writtenWhere.parse(written), bound, numbers);
  if (bound.problems.length > 0) throw new Error(bound.problems[0]?.message);
  return (cells) => nameOf(refuse(cellsOf(cells)));
}

function nameOf(refusal: ReturnType<ReturnType<typeof bindWhere>>): string {
  if (refusal === undefined) return 'in';
  return refusal.kind === 'rejected' ? `bad ${refusal.rejection.field}` : refusal.skip.reason;
}

export const answerTo = (condition: unknown, cell: Cell) => {
  const said = aFilter({ cell: condition }, ['cell'])([cell]);
  return said === 'in' ? 'in' : said.startsWith('bad') ? 'bad' : 'out';
};
