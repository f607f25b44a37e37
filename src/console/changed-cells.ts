import { countOf } from '../domain/count-of.js';
import { normalizeNumber } from '../normalize/number/number.js';
import type { Plan } from '../plan/format/plan-file.js';
import { sha256Of } from '../plan/format/sealed-json.js';
import type { RejectedRow } from '../retry/left-rows.js';
import { type FormFields, textOfForm } from './pages/desk.js';
import { conflictOf, type Wrong } from './pages/wrong.js';
import { applyFixes, type Fixes, type RejectionList } from './rejections.js';

/** Rows of a list as a page has them. `from`: how many are before them. */
interface RowsOfPage {
  readonly list: RejectionList;
  readonly rows: readonly RejectedRow[];
  readonly from: number;
}

const MOST_CELLS = 40;

/** Names a row, and the columns that its cells are of, in a form: no page shows its id. */
export function keyOfRow(row: RejectedRow, { columns }: RejectionList): string {
  return sha256Of(JSON.stringify([row.name, columns])).slice(0, 16);
}

/**
 * Moves the fields of a form to the place that the row of each has by now: a run that is resumed, or a decision, may have put others before it.
 * `lost`: why cells are not taken whose row is not on the page any more.
 */
export function followRows(
  fields: FormFields,
  { list, rows, from }: RowsOfPage,
): { fields: FormFields; lost: Wrong[] } {
  const places = new Map(rows.map((row, index) => [keyOfRow(row, list), from + index]));
  const followed: Record<string, unknown> = {};
  let lost = 0;
  for (const [field, value] of Object.entries(fields)) {
    const [, was = '', at, column] = /^(was-)?cell-(\d+)-(\d+)$/.exec(field) ?? [];
    const place = at === undefined ? undefined : places.get(String(fields[`row-${at}`]));
    if (at === undefined) followed[field] = value;
    else if (place !== undefined) followed[`${was}${fieldOf(place, Number(column))}`] = value;
    else if (was === '' && !isUnchanged(fields, field)) lost += 1;
  }
  const message = `${countOf(lost, 'cell')} that you changed ${lost === 1 ? 'is' : 'are'} of rows that are not on this page any more: others are left to fix since. Change ${lost === 1 ? 'it' : 'them'} where ${lost === 1 ? 'it stands' : 'they stand'} now.`;
  return { fields: followed, lost: lost === 0 ? [] : [{ message, status: 409 }] };
}

/** Whether a field of a cell says what it did when its form was made. */
export function isUnchanged(fields: FormFields, field: string): boolean {
  return textOfForm(fields[field]) === textOfForm(fields[`was-${field}`]);
}

type ChangedCell = ReturnType<typeof readChanged>[number];

/** The cells of a row that a form changed: `now` is what they say, `isConflict` that it is not what the form began with. */
export function readChanged(
  fields: FormFields,
  { row, at, list, fixes }: { row: RejectedRow; at: number; list: RejectionList; fixes: Fixes },
) {
  const cells = applyFixes(row, list, fixes);
  return editableAt(row, list.columns).flatMap((index) => {
    const field = fieldOf(at, index);
    const [written, was] = [fields[field], fields[`was-${field}`]];
    if (written === undefined || was === undefined) return [];
    const [text, before, now] = [textOfForm(written), textOfForm(was), textOfForm(cells[index] ?? '')];
    if (text === before || text === now) return [];
    return [{ field, column: list.columns[index] ?? '', text, now, isConflict: before !== now }];
  });
}

/** Why such a cell cannot be taken. */
export function refuseCell(
  { field, column, text, now, isConflict }: ChangedCell,
  plan: Plan,
  row: RejectedRow,
): Wrong[] {
  const at = `Line ${row.place[2]}, ${column}`;
  if (isConflict) return [conflictOf(at, `says: “${now}”`, field)];
  const [step] = plan.job.steps;
  if (step?.kind !== 'sms' || column !== row.standing.field || step.destination !== column) return [];
  // The country of a row may be in another of its cells: then the check says it.
  if (step.input.countryColumn !== undefined) return [];
  const number = normalizeNumber(text, step.input.country);
  return number.ok ? [] : [{ message: `${at}: ${number.reason}`, field }];
}

/** Indexes of the columns at fault; where the row as a whole is, all. */
export function editableAt({ standing }: RejectedRow, columns: readonly string[]): number[] {
  const { field, reason } = standing;
  const found = columns.flatMap((column, index) =>
    column === field || (column !== '' && reason.includes(`) ${column}: `)) ? [index] : [],
  );
  return found.length > 0 ? found : [...columns.keys()].slice(0, MOST_CELLS);
}

/** The name of a form's field: of a row by its place in the list, and a column. */
export function fieldOf(at: number, column: number): string {
  return `cell-${at}-${column}`;
}
