import { findGroup, type Window } from '../hours/window.js';
import type { RowStep } from '../job/job.js';
import { kindOf } from '../kinds/kinds.js';
import type { DraftRow, RowRefusal } from '../kinds/step-kind.js';
import type { Columns } from '../normalize/columns.js';
import { bindWhere } from './bind-where.js';
import { numbersOf } from './compile-test.js';

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

/** Each draft with its hours, where a column says the zone of each row, or its number's country does. One whose zone is not known is not sent. */
function draftHours(draftRow: DraftRow, window: Window, columns: Columns): DraftRow {
  const { timeZone } = window;
  if (timeZone === 'recipient') {
    return (cells, text) => {
      const draft = draftRow(cells, text);
      const { number, country } = draft;
      if (draft.refusal !== undefined) return draft;
      const hours = findGroup(window, { country, cell: '' });
      if (hours !== undefined) return { ...draft, hours };
      const so = `No time zone is known for numbers of ${country ?? 'no country'}`;
      return { number, country, refusal: refuse(window, '', so) };
    };
  }
  if (typeof timeZone === 'string') return draftRow;
  const { column } = timeZone;
  const index = columns.find(column, 'window.timeZone.column');
  return (cells, text) => {
    const cell = cells.cell(index);
    const hours = findGroup(window, { country: undefined, cell });
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
