import { foldCase, isResultColumn, PLACE_COLUMNS, RECEIPT_COLUMNS, readOwnName } from '../domain/output-columns.js';
import { foldName } from '../domain/text.js';

/** Stands for the id of an unreadable row: it may have had one, and must not be taken for a new row. */
export const HIDDEN_ID = '?';

/** Normalized names: without the blanks around them, and added columns in the case in which Volley writes them. */
export function readNames(names: readonly string[]): string[] {
  return names.map((name) => readOwnName(name) ?? name.trim());
}

/** Whether normalized names come from an output of Volley: the header of a CSV, or the keys of an NDJSON row. */
export function isOwnHeader(names: readonly string[]): boolean {
  return PLACE_COLUMNS.every((mark) => names.includes(mark));
}

/** Whether a column of an output is ignored when re-imported; a step may read those with the service's answer. */
export function isIgnoredColumn(name: string): boolean {
  return readOwnName(name) !== undefined && !isResultColumn(name);
}

/** The columns of an output that say which output it is: all that begin with `_`. */
export function listOwnColumns(names: readonly string[]): string[] {
  return names.filter((name) => name.startsWith('_')).map((name) => OF_DELIVERIES.get(foldCase(name)) ?? name);
}

const OF_DELIVERIES: ReadonlyMap<string, string> = new Map(RECEIPT_COLUMNS.map((name) => [foldCase(name), name]));

/**
 * Finds a column by its name: exactly, save for blanks around it, then without case and punctuation. Undefined when
 * there is none, or when several fit only in the second way. An added column is found by its exact name alone:
 * `_destination` never takes the place of a person's `Destination`.
 */
export function findColumn(
  columns: readonly string[],
  wanted: string,
): { index: number; how: 'exact' | 'folded' } | undefined {
  const name = wanted.trim();
  if (name === '') return undefined;
  const exact = columns.findIndex((column) => column.trim() === name);
  if (exact !== -1) return { index: exact, how: 'exact' };
  const own = readOwnName(name);
  const ownIndex = own === undefined ? -1 : columns.findIndex((column) => readOwnName(column) === own);
  if (ownIndex !== -1) return { index: ownIndex, how: 'folded' };
  const folded = foldName(name);
  if (folded === '') return undefined;
  const fitting = columns.flatMap((column, index) =>
    readOwnName(column) === undefined && foldName(column) === folded ? [index] : [],
  );
  const [index] = fitting;
  return index === undefined || fitting.length > 1 ? undefined : { index, how: 'folded' };
}
