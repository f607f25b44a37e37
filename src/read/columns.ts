/**
 * Columns that our outputs add. They begin with `_` so that they collide with nothing, and are left out when a file
 * of ours is read again. `_text` holds the line of an NDJSON file that could not be read as a row.
 */
const OWN_COLUMNS: ReadonlySet<string> = new Set([
  '_step',
  '_file',
  '_line',
  '_row',
  '_status',
  '_umid',
  '_clientMessageId',
  '_batchId',
  '_destination',
  '_segments',
  '_description',
  '_contactId',
  '_location',
  '_stage',
  '_field',
  '_code',
  '_reason',
  '_text',
  '_rowId',
]);

/** Every output of ours has these; a file that has them all is one of ours. */
const OWN_MARKS = ['_step', '_file', '_line', '_row'];

/** The column in which a faulty NDJSON line keeps its text, so that nothing is lost. */
export const TEXT_COLUMN = '_text';

/** The column of rejections by which a row is known again, whatever else was mended in it. */
export const ID_COLUMN = '_rowId';
/** Stands for the id of a row that cannot be read as it stands: it had one, perhaps, and must not be taken for a new row. */
export const HIDDEN_ID = '?';

/** Whether it is a column that our outputs add. */
export function isOwnColumn(name: string): boolean {
  return OWN_COLUMNS.has(name);
}

/** Whether a header, or the keys of an NDJSON row, come from an output of ours. */
export function isOwnHeader(names: readonly string[]): boolean {
  return OWN_MARKS.every((mark) => names.includes(mark));
}

/** Of the columns of an output of ours, those that tell which output it is: all that begin as ours do. */
export function listOwnColumns(names: readonly string[]): string[] {
  return names.filter((name) => name.startsWith('_'));
}

/**
 * Finds a column by its name: exactly, save for blanks around it, then without case and punctuation.
 * Undefined when there is none, or when several fit only in the second way.
 */
export function findColumn(
  columns: readonly string[],
  wanted: string,
): { index: number; how: 'exact' | 'folded' } | undefined {
  const name = wanted.trim();
  if (name === '') return undefined;
  const exact = columns.findIndex((column) => column.trim() === name);
  if (exact !== -1) return { index: exact, how: 'exact' };
  const folded = foldName(name);
  if (folded === '') return undefined;
  const fitting = columns.flatMap((column, index) => (foldName(column) === folded ? [index] : []));
  const [index] = fitting;
  return index === undefined || fitting.length > 1 ? undefined : { index, how: 'folded' };
}

/** Letters, marks and digits only, lower case; full-width forms as the plain ones. */
function foldName(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '');
}
