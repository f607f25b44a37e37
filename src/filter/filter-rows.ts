import type { RowStep } from '../job/job.js';
import { kindOf } from '../kinds/kinds.js';
import type { DraftRow, PlannerContext, RowPlanner } from '../kinds/step-kind.js';
import type { Columns } from '../normalize/columns.js';
import { bindWhere } from './bind-where.js';
import { numbersOf } from './compile-country-test.js';
import { draftHours, groupHours } from './group-hours.js';

/** The planner of a step, with the hours of its window. */
export function createRowPlanner(step: RowStep, context: PlannerContext): RowPlanner {
  const planner = kindOf(step).createPlanner(step, context);
  return step.kind === 'sms' && step.window !== undefined ? groupHours(planner, step.window) : planner;
}

/** Drafts the rows of a file, but for those that the step's `where` leaves out: they are neither checked nor compared with others. */
export function bindRows(step: RowStep, columns: Columns): DraftRow {
  const { where } = step.input;
  const filter = where && bindWhere(where, columns, numbersOf(step));
  const ofKind = kindOf(step).bind(step, columns);
  const window = step.kind === 'sms' ? step.window : undefined;
  const draftRow = window === undefined ? ofKind : draftHours(ofKind, window, columns);
  if (filter === undefined) return draftRow;
  return (cells, text) => {
    const refusal = filter.refuse(cells);
    return refusal === undefined ? draftRow(cells, text) : { refusal };
  };
}
