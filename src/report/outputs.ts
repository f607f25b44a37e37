import {
  listNotReplaced,
  PLACE_COLUMNS,
  REASON_COLUMNS,
  REJECTION_COLUMNS,
  STATUS_COLUMN,
} from '../domain/output-columns.js';
import type { Balance, Cell, Rejection, RowVerdict } from '../domain/row.js';
import { maskNumbers } from '../normalize/mask.js';

/**
 * The five outputs of a step, with what their rows count as in its balance, and how they are called; between them every row of the input
 * stands exactly once.
 */
export const OUTPUTS = {
  results: { counted: 'accepted', title: 'accepted' },
  rejections: { counted: 'rejected', title: 'rejected' },
  skipped: { counted: 'skipped', title: 'skipped' },
  'in-doubt': { counted: 'inDoubt', title: 'in doubt' },
  unprocessed: { counted: 'unprocessed', title: 'not sent' },
} as const satisfies Record<string, { readonly counted: keyof Balance; readonly title: string }>;
export type Output = keyof typeof OUTPUTS;

/** In the order in which accounts and pages list them. */
export const LISTED_OUTPUTS = Object.keys(OUTPUTS) as Output[];

/** Outputs whose rows have a reason to be explained: of skipped ones the code says all. */
export const EXPLAINED_OUTPUTS = ['rejections', 'in-doubt', 'unprocessed'] as const satisfies readonly Output[];
export type ExplainedOutput = (typeof EXPLAINED_OUTPUTS)[number];

/** The output in which a planned row stands, by what became of it; `unprocessed`: nothing yet. */
export const OUTPUT_OF: Readonly<Record<RowVerdict['status'] | 'unprocessed', Output>> = {
  accepted: 'results',
  rejected: 'rejections',
  'in-doubt': 'in-doubt',
  'not-sent': 'unprocessed',
  unprocessed: 'unprocessed',
};

/** In which output a row stands, and what that says of it. */
export interface RowStanding extends Omit<Rejection, 'code'> {
  readonly output: Output;
  /** '' where nothing became of the row yet. */
  readonly code: string;
  /** Identifies the row when it is re-imported, whatever was fixed in it. */
  readonly id: string;
  readonly resultCells: readonly string[];
}

/** The columns that an output adds: before the original ones in the results, else behind them. */
function listAdded(output: Output, resultColumns: readonly string[]): string[] {
  switch (output) {
    case 'results':
      return [...PLACE_COLUMNS, STATUS_COLUMN, ...resultColumns];
    case 'rejections':
      return [...PLACE_COLUMNS, ...REJECTION_COLUMNS];
    case 'skipped':
      return [...PLACE_COLUMNS, ...REASON_COLUMNS];
    default:
      return [...PLACE_COLUMNS, ...REASON_COLUMNS, ...resultColumns];
  }
}

/** What stands in them, behind the place of the row. */
function listAddedCells({ output, stage, field, code, reason, id, resultCells }: RowStanding): readonly string[] {
  switch (output) {
    case 'results':
      return [code, ...resultCells];
    case 'rejections':
      return [stage, field, code, reason, id];
    case 'skipped':
      return [code, reason];
    default:
      return [code, reason, ...resultCells];
  }
}

/**
 * All columns of an output, in order, and which of the original ones stand in it: one that came from the output of another step,
 * and that this output has itself, is omitted.
 */
export function outputColumns(
  output: Output,
  resultColumns: readonly string[],
  original: readonly string[],
): { columns: string[]; kept: readonly number[] } {
  const added = listAdded(output, resultColumns);
  const kept = listNotReplaced(original, added);
  const names = kept.map((index) => original[index] ?? '');
  return { columns: output === 'results' ? [...added, ...names] : [...names, ...added], kept };
}

/** The cells of a row, in the order of `outputColumns`; `cells`: of the original columns that stand in it. */
export function outputCells(
  standing: RowStanding,
  place: readonly [step: number, file: string, line: number, row: number],
  cells: readonly Cell[],
): (Cell | number)[] {
  const added = listAddedCells(standing);
  return standing.output === 'results' ? [...place, ...added, ...cells] : [...cells, ...place, ...added];
}

/** Control characters, ends of lines, half characters, and those that turn the direction of what follows. */
const UNSAFE = /[\p{Cc}\p{Cs}\u2028\u2029\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** The service's message for an output: on one line, safe for terminals and spreadsheets, numbers masked. */
export function escapeServiceText(text: string): string {
  return maskNumbers(text).replace(UNSAFE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
