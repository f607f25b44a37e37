import { findColumn } from '../../src/input/own-columns.js';
import type { RowStep } from '../../src/job/job.js';
import type { PlannerContext, RowPlan, RowReader, StepKind } from '../../src/kinds/step-kind.js';

const CONTEXT: PlannerContext = {
  planId: 'planplanplan',
  step: 1,
  findColumn,
  findSuppressed: () => undefined,
  describeRow: (ordinal) => `row ${ordinal + 1}`,
};

/** What a kind plans for rows of a file with these columns, or the problems with the columns. */
export function planRows<S extends RowStep>(
  kind: StepKind<S>,
  step: S,
  columns: readonly string[],
  ...rows: readonly (readonly (string | undefined)[])[]
): RowPlan[] {
  const read = kind.createPlanner(step, CONTEXT).bind(columns);
  if (typeof read !== 'function') throw new Error(read.problems.map(({ message }) => message).join('; '));
  return rows.map((cells, index) => readRow(read, cells, index));
}

function readRow(read: RowReader, cells: readonly (string | undefined)[], ordinal: number): RowPlan {
  return read({ cells, line: ordinal + 2, row: ordinal + 1, fault: undefined }, ordinal, ordinal);
}

/** The body that would be posted, or what keeps the row from being sent: field, code and reason. */
export function bodyOf(plan: RowPlan | undefined): unknown {
  if (plan?.kind === 'planned') return JSON.parse(plan.row.fragment);
  if (plan?.kind === 'rejected') return [plan.rejection.field, plan.rejection.code, plan.rejection.reason];
  return plan?.skip;
}
