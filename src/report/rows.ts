import {
  listNotReplaced,
  PLACE_COLUMNS,
  REASON_COLUMNS,
  REJECTION_COLUMNS,
  STATUS_COLUMN,
} from '../domain/output-columns.js';
import type { Cell, Rejection, RowVerdict } from '../domain/row.js';
import { maskNumbers } from '../normalize/mask.js';

/** The five outputs of a step; between them every row of its input stands exactly once. */
export const OUTPUTS = ['results', 'rejections', 'skipped', 'in-doubt', 'unprocessed'] as const;
export type Output = (typeof OUTPUTS)[number];

/** The columns that an output adds: before the original ones in the results, else behind them. */
function listAdded(output: Output, resultColumns: readonly string[]): string[] {
  if (output === 'rejections') return [...PLACE_COLUMNS, ...REJECTION_COLUMNS];
  const about = output === 'results' ? [STATUS_COLUMN] : REASON_COLUMNS;
  return [...PLACE_COLUMNS, ...about, ...(output === 'skipped' ? [] : resultColumns)];
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

/** The cells of a row, in the order of `outputColumns`. `about`: what the output says of it; `cells`: of the original columns that stand in it. */
export function outputCells({
  output,
  place,
  about,
  cells,
}: {
  readonly output: Output;
  readonly place: readonly [step: number, file: string, line: number, row: number];
  readonly about: readonly string[];
  readonly cells: readonly Cell[];
}): (Cell | number)[] {
  return output === 'results' ? [...place, ...about, ...cells] : [...cells, ...place, ...about];
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

export function describeSkip({ code, reason }: { readonly code: string; readonly reason: string }) {
  return { output: 'skipped', about: [code, reason] } as const;
}

/** Control characters, ends of lines, half characters, and those that turn the direction of what follows. */
const UNSAFE = /[\p{Cc}\p{Cs}\u2028\u2029\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** The service's message for an output: on one line, safe for terminals and spreadsheets, numbers masked. */
export function escapeServiceText(text: string): string {
  return maskNumbers(text).replace(UNSAFE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
