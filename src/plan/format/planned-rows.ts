import { sumOf } from '../../domain/count-of.js';
import { isLeftOutCode, LEFT_OUT_CODES } from '../../domain/row-codes.js';
import type { Files } from '../../storage/files.js';
import type { PlannedStep } from './plan-file.js';
import { readRowBatches } from './planned-files.js';
import type { RowLine } from './row-line.js';

export type PlannedRowLine = Extract<RowLine, { state: 'planned' }>;
type SkippedRowLine = Extract<RowLine, { state: 'skipped' }>;

/** The rows of a step that a plan sends, in their order, each with its index among them. */
export async function* readPlannedRows(
  files: Files,
  directory: string,
  planned: PlannedStep,
): AsyncGenerator<{ index: number; row: PlannedRowLine }> {
  let index = 0;
  for await (const row of readRows(files, directory, planned))
    if (row.state === 'planned') yield { index: index++, row };
}

/** Whether a plan omitted a row for now: a retry may take it. */
export function isLeftOut(row: RowLine): row is SkippedRowLine {
  return row.state === 'skipped' && isLeftOutCode(row.skip.code);
}

export function countLeftOut({ skips }: Pick<PlannedStep, 'skips'>): number {
  return sumOf(LEFT_OUT_CODES.map((code) => skips[code] ?? 0));
}

/** All rows of a step, in the order of their file. */
export async function* readRows(files: Files, directory: string, planned: PlannedStep): AsyncGenerator<RowLine> {
  for await (const batch of readRowBatches(files, directory, planned)) yield* batch;
}
