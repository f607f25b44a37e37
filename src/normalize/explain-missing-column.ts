import { foldName } from '../domain/find-column.js';
import { readOwnName } from '../domain/output-columns.js';
import { listColumns } from './mask.js';

/** What follows may be cells: those of the first row, where a file has no header. */
export const COLUMNS_FOLLOW = '; columns: ';

/**
 * Why the job's name of a column leads to none of the file's: no column matches it, or several do and none of them
 * exactly. `hint` is absent in the first case: it depends on the caller. Numbers in names of columns are masked.
 */
export function explainMissingColumn(
  wanted: string,
  columns: readonly string[],
): { readonly message: string; readonly hint?: string } {
  const folded = foldName(wanted);
  const matching = columns.filter((column) => readOwnName(column) === undefined && foldName(column) === folded);
  if (folded === '' || matching.length < 2) {
    return { message: `no column matches '${wanted}'${COLUMNS_FOLLOW}${listColumns(columns)}` };
  }
  return {
    message: `${matching.length} columns match '${wanted}': ${listColumns(matching)}`,
    hint: 'Write the name of one of them in the job exactly as it stands in the file.',
  };
}
