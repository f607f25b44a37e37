import {
  listNotReplaced,
  PLACE_COLUMNS,
  REASON_COLUMNS,
  REJECTION_COLUMNS,
  STATUS_COLUMN,
} from '../domain/output-columns.js';
import type { Cell, Rejection, RowVerdict, Skip } from '../domain/row.js';
import { maskNumbers } from '../normalize/mask.js';

/** The five outputs of a step; between them every row of its input stands exactly once. */
export const OUTPUTS = ['results', 'rejections', 'skipped', 'in-doubt', 'unprocessed'] as const;
export type Output = (typeof OUTPUTS)[number];

export interface OutputRow {
  readonly output: Output;
  readonly place: readonly [step: number, file: string, line: number, row: number];
  /** What the output says of the row, in the order of its own columns behind the place. */
  readonly about: readonly string[];
  /** In the order of the output's original columns. */
  readonly cells: readonly Cell[];
}

/** The columns that an output adds, before or after the original ones. */
function describeOutput(output: Output, resultColumns: readonly string[]): { columns: string[]; isFirst: boolean } {
  switch (output) {
    case 'results':
      return { columns: [STATUS_COLUMN, ...resultColumns], isFirst: true };
    case 'rejections':
      return { columns: [...REJECTION_COLUMNS], isFirst: false };
    case 'skipped':
      return { columns: [...REASON_COLUMNS], isFirst: false };
    case 'in-doubt':
    case 'unprocessed':
      return { columns: [...REASON_COLUMNS, ...resultColumns], isFirst: false };
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
  const { columns, isFirst } = describeOutput(output, resultColumns);
  const kept = listNotReplaced(original, [...PLACE_COLUMNS, ...columns]);
  const names = kept.map((index) => original[index] ?? '');
  const all = isFirst ? [...PLACE_COLUMNS, ...columns, ...names] : [...names, ...PLACE_COLUMNS, ...columns];
  return { columns: all, kept };
}

/** The cells of a row, in the order of `outputColumns`. */
export function outputCells(row: OutputRow): (Cell | number)[] {
  return row.output === 'results'
    ? [...row.place, ...row.about, ...row.cells]
    : [...row.cells, ...row.place, ...row.about];
}

/** Which output a row with this verdict belongs to, and what it says; undefined: not reached yet. `id` names the row. */
export function describeVerdict(
  verdict: RowVerdict | undefined,
  { resultCells, id }: { resultCells: readonly string[]; id: string },
): { output: Output; about: string[] } {
  if (verdict === undefined) return { output: 'unprocessed', about: ['', '', ...resultCells] };
  const { status, code } = verdict;
  if (status === 'accepted') return { output: 'results', about: [code, ...resultCells] };
  const reason = escapeServiceText(verdict.reason);
  if (status === 'in-doubt' || status === 'not-sent') {
    const output = status === 'in-doubt' ? 'in-doubt' : 'unprocessed';
    return { output, about: [code, reason, ...resultCells] };
  }
  return describeRejection({ stage: 'send', field: '', code, reason }, id);
}

/** The id identifies a row when it is re-imported, whatever was fixed in it. */
export function describeRejection(
  { stage, field, code, reason }: Omit<Rejection, 'code'> & { readonly code: string },
  id: string,
): { output: Output; about: string[] } {
  return { output: 'rejections', about: [stage, field, code, reason, id] };
}

export function describeSkip({ code, reason }: Skip): {
  output: Output;
  about: string[];
} {
  return { output: 'skipped', about: [code, reason] };
}

/** A row that another plan has claimed: its outcome is reported there. */
export function describeRetried(plan: string): { output: Output; about: string[] } {
  return { output: 'skipped', about: ['retried', `Claimed by plan ${plan}, which reports what became of it`] };
}

/** Control characters, ends of lines, half characters, and those that turn the direction of what follows. */
const UNSAFE = /[\p{Cc}\p{Cs}\u2028\u2029\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** The service's message for an output: on one line, safe for terminals and spreadsheets, numbers masked. */
export function escapeServiceText(text: string): string {
  return maskNumbers(text).replace(UNSAFE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
