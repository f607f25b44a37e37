import type { RowKind } from './areas.js';

/**
 * The columns that Volley's outputs add, all in one place, for writing, re-importing and refusing outputs. They begin
 * with `_` so that they collide with nothing.
 */

/** In every output: where a row stands. A file that has them all is an output of Volley. */
export const PLACE_COLUMNS = ['_step', '_file', '_line', '_row'] as const;

/** Of results, before those of the kind. */
export const STATUS_COLUMN = '_status';
export const REJECTION_COLUMNS = ['_stage', '_field', '_code', '_reason', '_rowId'] as const;
/** Of rows that were skipped, are in doubt or were not reached. */
export const REASON_COLUMNS = ['_code', '_reason'] as const;

/** The column of rejections by which a row is known again, whatever else was fixed in it. */
export const ID_COLUMN = '_rowId';
/** The column in which a faulty NDJSON line keeps its text, so that nothing is lost. */
export const TEXT_COLUMN = '_text';
/** The number that the service was given, in E.164. */
export const DESTINATION_COLUMN = '_destination';

/**
 * What the service said of a row, by kind of step. A step of another kind may read these columns.
 * Invariant: each kind has a column that no other has: by it a file is known to hold rows that such a step took.
 */
export const RESULT_COLUMNS = {
  contacts: ['_contactId', '_location', '_description'],
  sms: ['_umid', '_clientMessageId', '_batchId', DESTINATION_COLUMN, '_segments', '_description'],
  'verification.start': ['_sessionId', DESTINATION_COLUMN, '_attempt', '_expiresAt', '_retryAfter'],
  'verification.check': ['_sessionId', DESTINATION_COLUMN, '_attempt', '_expiresAt', '_nextSmsAfter', '_description'],
  conversations: ['_conversationId', '_createdAt', '_queue'],
} as const satisfies Readonly<Record<RowKind, readonly string[]>>;

/** Of deliveries, between the place of a row and its original columns. All but the first may be columns of a person's file too. */
export const RECEIPT_COLUMNS = [
  ...['_umid', '_state', '_detail', '_errorCode', '_error', '_time'],
  // What the service says that it cost.
  ...['_parts', '_price', '_currency'],
] as const;

const OF_RESULTS: ReadonlySet<string> = new Set(Object.values(RESULT_COLUMNS).flat());
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

const MARKS = new Map(
  Object.entries(RESULT_COLUMNS).map(([kind, columns]) => [kind as RowKind, marksOf(kind, columns)]),
);

function marksOf(kind: string, columns: readonly string[]): string[] {
  const others = Object.entries(RESULT_COLUMNS).flatMap(([other, names]) => (other === kind ? [] : [...names]));
  return columns.filter((name) => !others.some((other) => other === name));
}

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
