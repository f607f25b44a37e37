import { ROW_KINDS, type RowKind } from './areas.js';

/**
 * The columns that Volley's outputs add, all in one place, for writing, re-importing and refusing outputs. They begin
 * with `_` so that they collide with nothing.
 */

/** Say in every output where a row stands. A file that has them all is an output of Volley. */
export const PLACE_COLUMNS = ['_step', '_file', '_line', '_row'] as const;

/** Stands in results, before the columns of the kind. */
export const STATUS_COLUMN = '_status';
export const REJECTION_COLUMNS = ['_stage', '_field', '_code', '_reason', '_rowId'] as const;
/** Stand in outputs of rows that were skipped, are in doubt or were not reached. */
export const REASON_COLUMNS = ['_code', '_reason'] as const;

/** The column of rejections by which a row is known again, whatever else was fixed in it. */
export const ID_COLUMN = '_rowId';
/** The column in which a faulty NDJSON line keeps its text, so that nothing is lost. */
export const TEXT_COLUMN = '_text';
/** The number that the service was given, in E.164. */
export const DESTINATION_COLUMN = '_destination' satisfies (typeof ROW_KINDS.sms.resultColumns)[number];

/** Stand in deliveries, between the place of a row and its original columns. All but the first may be in a person's file too. */
export const RECEIPT_COLUMNS = [
  ...['_umid', '_state', '_detail', '_errorCode', '_error', '_time'],
  // What the service says that it cost.
  ...['_parts', '_price', '_currency'],
] as const;

const RESULT_COLUMNS = Object.entries(ROW_KINDS).map(([kind, { resultColumns }]) => ({
  kind: kind as RowKind,
  names: resultColumns,
}));
const OF_RESULTS: ReadonlySet<string> = new Set(RESULT_COLUMNS.flatMap(({ names }) => [...names]));
const OURS = [...PLACE_COLUMNS, STATUS_COLUMN, ...REJECTION_COLUMNS, ...REASON_COLUMNS, TEXT_COLUMN, ...OF_RESULTS];
const BY_FOLDED: ReadonlyMap<string, string> = new Map(OURS.map((name) => [foldCase(name), name]));

const UNDERSCORE = 0x5f;
const FULL_WIDTH_UNDERSCORE = 0xff3f;

/** The added column that a name means, ignoring case and blanks around it; undefined for any other name. */
export function readOwnName(name: string): string | undefined {
  const trimmed = name.trim();
  const first = trimmed.charCodeAt(0);
  return first === UNDERSCORE || first === FULL_WIDTH_UNDERSCORE ? BY_FOLDED.get(foldCase(trimmed)) : undefined;
}

/** The kinds of step whose columns an output has. */
export function listKindsIn(columns: readonly string[]): RowKind[] {
  return [...MARKS].flatMap(([kind, marks]) => (marks.some((mark) => columns.includes(mark)) ? [kind] : []));
}

/** The columns that no other kind has. */
const MARKS = new Map(
  RESULT_COLUMNS.map(({ kind, names }) => {
    const others = RESULT_COLUMNS.flatMap((other): readonly string[] => (other.kind === kind ? [] : other.names));
    return [kind, names.filter((name) => !others.includes(name))];
  }),
);

/** Whether it says what the service said of a row, so that steps may read it. */
export function isResultColumn(name: string): boolean {
  return OF_RESULTS.has(name);
}

/** Columns without those that an output adds itself, so that none appears twice. */
export function listNotReplaced(columns: readonly string[], added: readonly string[]): number[] {
  return [...columns.keys()].filter((index) => !added.includes(columns[index] ?? ''));
}

/** One writing of a name. Turkish has an I with a dot and an i without one: `_LİNE`, `_rowıd`. */
export function foldCase(name: string): string {
  return name.normalize('NFKC').toLowerCase().replaceAll('\u0307', '').replaceAll('ı', 'i');
}

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
