import type { Window } from '../hours/window.js';
import { findGroup } from '../hours/zone-groups.js';
import type { RowStep } from '../job/job.js';
import { kindOf } from '../kinds/kinds.js';
import type { DraftRow, PlannerContext, RowPlanner, RowRefusal } from '../kinds/step-kind.js';
import type { Columns } from '../normalize/columns.js';
import { bindWhere } from './bind-where.js';
import { numbersOf } from './compile-country-test.js';

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

/** The planner of a step with a window: rows have the hours of its zone, or of the country of their number; one whose time zone is not known is not planned. */
function groupHours(planner: RowPlanner, window: Window): RowPlanner {
  const { timeZone } = window;
  if (typeof timeZone !== 'string') return planner;
  if (timeZone !== 'recipient') return { ...planner, hours: timeZone };
  const findHours = (country: string | undefined) =>
    findGroup(window, { country, cell: '' }) ??
    refuse(window, '', `No time zone is known for numbers of ${country ?? 'no country'}`);
  return { ...planner, findHours };
}

/** Where a column says the zone of each row, its draft has that. */
function draftHours(draftRow: DraftRow, window: Window, columns: Columns): DraftRow {
  const { timeZone } = window;
  if (typeof timeZone === 'string') return draftRow;
  const { column } = timeZone;
  const index = columns.find(column, 'window.timeZone.column');
  return (cells, text) => {
    const cell = cells.cell(index);
    const hours = findGroup(window, { country: undefined, cell });
    // Before the row can be that which others repeat: it will not be sent.
    if (hours === undefined)
      return { refusal: refuse(window, column, `says ${JSON.stringify(cell.slice(0, 40))}, expected ${EXPECTED}`) };
    return { ...draftRow(cells, text), hours };
  };
}

const EXPECTED = 'the name of a time zone such as Asia/Singapore';

function refuse({ unknown }: Window, field: string, so: string): RowRefusal {
  const reason = field === '' ? so : `The column ${field} ${so}`;
  if (unknown === 'hold') return { kind: 'skipped', skip: { code: 'no-time-zone', reason } };
  return { kind: 'rejected', rejection: { stage: 'normalize', field, code: 'no-time-zone', reason } };
}
