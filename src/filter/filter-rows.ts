import type { FindColumn } from '../domain/find-column.js';
import { cellsOf } from '../domain/row.js';
import type { RowStep } from '../job/job.js';
import { kindOf } from '../kinds/kinds.js';
import type { DraftRow, PlannerContext, RowPlanner } from '../kinds/step-kind.js';
import { bindWhere } from './bind-where.js';
import { numbersOf } from './compile-country-test.js';
import { groupHours } from './group-hours.js';

/** The planner of a step, which ignores rows that its `where` omits: they are neither checked nor compared with others. */
export function createRowPlanner(step: RowStep, context: PlannerContext): RowPlanner {
  const ofKind = kindOf(step).createPlanner(step, context);
  const planner =
    step.kind === 'sms' && step.window !== undefined ? groupHours(ofKind, step.window, context.findColumn) : ofKind;
  const { where } = step.input;
  if (where === undefined) return planner;
  return {
    ...planner,
    bind: (columns) => {
      const rows = planner.bind(columns);
      const filter = bindWhere(where, columns, { findColumn: context.findColumn, numbers: numbersOf(step) });
      const ofRows = typeof rows === 'function' ? [] : rows.problems;
      if (typeof rows === 'function' && 'refuse' in filter) {
        return (record, ordinal, index) => filter.refuse(cellsOf(record.cells)) ?? rows(record, ordinal, index);
      }
      return { problems: [...('problems' in filter ? filter.problems : []), ...ofRows] };
    },
  };
}

/** The same for drafts, which are made of rows as bytes. Undefined where the step's rows have none, or where a column is not there: the planner says so. */
export function bindDrafts(step: RowStep, columns: readonly string[], findColumn: FindColumn): DraftRow | undefined {
  const draftRow = kindOf(step).createDrafter?.(step).bind(columns, findColumn);
  if (typeof draftRow !== 'function') return undefined;
  const { where } = step.input;
  if (where === undefined) return draftRow;
  const filter = bindWhere(where, columns, { findColumn, numbers: numbersOf(step) });
  if ('problems' in filter) return undefined;
  return (cells, text) => {
    const refusal = filter.refuse(cells);
    if (refusal === undefined) return draftRow(cells, text);
    if (refusal.kind === 'rejected') return { number: undefined, rejection: refusal.rejection };
    return { number: undefined, rejection: undefined, omitted: refusal.skip.reason };
  };
}
