import type { FindColumn } from '../domain/find-column.js';
import type { Window } from '../hours/window.js';
import { findGroup } from '../hours/zone-groups.js';
import { searchColumns } from '../kinds/column-search.js';
import { cellText, type RowPlan, type RowPlanner, type RowRefusal } from '../kinds/step-kind.js';

/** The planner of a step with a window: each row has the group of its hours, and one whose time zone is not known is not planned. */
export function groupHours(planner: RowPlanner, window: Window, findColumn: FindColumn): RowPlanner {
  if (!areMixed(window)) return { ...planner, hours: String(window.timeZone) };
  const findHours = (country: string | undefined, cell = '') =>
    findGroup(window, { country, cell }) ??
    refuse(window, '', `No time zone is known for numbers of ${country ?? 'no country'}`);
  const drafts = window.timeZone === 'recipient' ? planner.drafts && { ...planner.drafts, findHours } : planner.drafts;
  return {
    ...planner,
    ...(drafts && { drafts }),
    bind: (columns) => {
      const rows = planner.bind(columns);
      const column = typeof window.timeZone === 'string' ? undefined : window.timeZone.column;
      const { find, problems } = searchColumns(columns, { findColumn });
      const index = column === undefined ? undefined : find(column, 'window.timeZone.column');
      if (typeof rows !== 'function') return { problems: [...problems, ...rows.problems] };
      if (problems.length > 0) return { problems };
      return (record, ordinal, at): RowPlan => {
        const cell = index === undefined ? '' : cellText(record.cells, index);
        // Before the row can be that which others repeat: it will not be sent.
        if (index !== undefined && findGroup(window, { country: undefined, cell }) === undefined)
          return refuse(window, column ?? '', `says ${JSON.stringify(cell.slice(0, 40))}, expected ${EXPECTED}`);
        const plan = rows(record, ordinal, at);
        if (plan.kind !== 'planned') return plan;
        const hours = findHours(plan.row.country, cell);
        return typeof hours === 'string' ? { kind: 'planned', row: { ...plan.row, hours } } : hours;
      };
    },
  };
}

const EXPECTED = 'the name of a time zone such as Asia/Singapore';

/** Whether rows may have different hours. */
function areMixed({ timeZone }: Window): boolean {
  return timeZone === 'recipient' || typeof timeZone === 'object';
}

function refuse({ unknown }: Window, field: string, so: string): RowRefusal {
  const reason = field === '' ? so : `The column ${field} ${so}`;
  if (unknown === 'hold') return { kind: 'skipped', skip: { code: 'no-time-zone', reason } };
  return { kind: 'rejected', rejection: { stage: 'normalize', field, code: 'no-time-zone', reason } };
}
