import { ID_COLUMN, listKindsIn, PLACE_COLUMNS, REASON_COLUMNS, STATUS_COLUMN } from '../../domain/output-columns.js';
import type { RowStep } from '../../job/job.js';

const OF_SKIPPED: readonly string[] = [...PLACE_COLUMNS, ...REASON_COLUMNS];
const OUTSIDE = 'Rows in it that really are new are read once the columns that begin with _ are removed from the file.';

/**
 * Why an output of Volley is not input of a kind of step, by its columns: its rows were sent, or may have been, or belong to their
 * run. Undefined for rejections, and for results of another kind of step, which may be chained. Results without the columns that
 * say of which kind they are, are refused too.
 */
export function findRefusal(
  own: readonly string[],
  kind: RowStep['kind'],
): { message: string; hint: string } | undefined {
  const has = (name: string) => own.includes(name);
  if (has('_stage')) return has(ID_COLUMN) ? undefined : WITHOUT_IDS;
  const kinds = listKindsIn(own);
  if (has(STATUS_COLUMN)) {
    if (kinds.length === 0) return UNKNOWN_RESULTS;
    return kinds.includes(kind) ? RESULTS : undefined;
  }
  if (has('_state') && has('_umid')) return kinds.includes(kind) ? DELIVERIES : undefined;
  const isSkipped = own.every((name) => OF_SKIPPED.includes(name));
  return isSkipped ? SKIPPED : UNSETTLED;
}

const WITHOUT_IDS = {
  message: 'it is a rejections file without the column _rowId, which shows what was sent since, expected that column',
  hint: `Write the file again with \`volley report\` and its run directory, and correct that one. ${OUTSIDE}`,
};
const RESULTS = {
  message: 'it holds results of a step of the same kind: its rows were sent, expected rows that were not',
  hint: `Remove it from the input of the step. ${OUTSIDE}`,
};
const UNKNOWN_RESULTS = {
  message: 'it holds results without the columns that show the kind of step, expected all columns that begin with _',
  hint: `Write the file again with \`volley report\` and its run directory, and add your columns to that one. ${OUTSIDE}`,
};
const DELIVERIES = {
  message: 'it holds deliveries: its rows were sent, expected rows that were not',
  hint: `Remove it from the input of the step. ${OUTSIDE}`,
};
const SKIPPED = {
  message: 'it holds rows that a run skipped: duplicates, people who opted out, and rows that another plan claimed',
  hint: `Remove it from the input. ${OUTSIDE}`,
};
const UNSETTLED = {
  message: 'it holds rows in doubt, or unprocessed ones: they may have been sent, or their run will send them',
  hint: `Settle rows in doubt with \`volley settle\`; for the others finish the run, or use \`volley retry\`. ${OUTSIDE}`,
};
