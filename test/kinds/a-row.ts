import { ByteCells } from '../../src/domain/bytes/row-block.js';
import { RowWriter } from '../../src/domain/bytes/row-writer.js';
import { bindRows } from '../../src/filter/bind-rows.js';
import type { RowStep } from '../../src/job/job.js';
import { kindOf } from '../../src/kinds/kinds.js';
import { createRowJudge } from '../../src/kinds/row-judge.js';
import type { Preview, RowRefusal } from '../../src/kinds/step-kind.js';
import { Columns } from '../../src/normalize/columns.js';
import { DraftedRows } from '../../src/plan/format/row-line.js';

export type RowPlan =
  | {
      readonly kind: 'planned';
      readonly fragment: string;
      readonly facts: readonly string[];
      readonly country: string | undefined;
      readonly preview: Preview;
    }
  | RowRefusal;

/** What a step plans for rows of a file with these columns; throws the problems with the columns. */
export function planRows(
  step: RowStep,
  names: readonly string[],
  ...rows: readonly (readonly (string | undefined)[])[]
): RowPlan[] {
  const columns = new Columns(names);
  const draftRow = bindRows(step, columns);
  if (columns.problems.length > 0) throw new Error(columns.problems.map(({ message }) => message).join('; '));
  const writer = new RowWriter(names.length);
  for (const [at, cells] of rows.entries()) writer.add({ cells, line: at + 2, row: at + 1, fault: undefined });
  const planner = kindOf(step).createPlanner(step, 'planplanplan', 1);
  const context = { findSuppressed: () => undefined, describeRow: (ordinal: number) => `row ${ordinal + 1}` };
  const judge = createRowJudge(step, planner, context);
  const row = new DraftedRows({ rows: writer.take() }, draftRow);
  return rows.map((_, index): RowPlan => {
    row.index = index;
    row.ordinal = index;
    const refusal = judge.refuse(row);
    if (refusal !== undefined) return refusal;
    const { facts, fragment, country } = row;
    return { kind: 'planned', fragment: fragment.toString('utf8'), facts, country, preview: planner.preview(row) };
  });
}

/** The body that would be posted, or what keeps the row from being sent: field, code and reason. */
export function bodyOf(plan: RowPlan | undefined): unknown {
  if (plan?.kind === 'planned') return JSON.parse(plan.fragment);
  if (plan?.kind === 'rejected') return [plan.rejection.field, plan.rejection.code, plan.rejection.reason];
  return plan?.skip;
}

/** A row as bytes, not the first one of its block. */
export function aByteRow(cells: readonly (string | undefined)[]): ByteCells {
  const writer = new RowWriter(cells.length);
  for (const each of [cells.map(() => '"'), cells]) writer.add({ cells: each, line: 1, row: 1, fault: undefined });
  const row = new ByteCells(writer.take());
  row.row = 1;
  return row;
}
