import { isLeftOutCode, LEFT_OUT_CODES } from '../../domain/row-codes.js';
import type { RowId } from '../../kinds/ids.js';
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
  yield* filterRows(readRows(files, directory, planned), (row): row is PlannedRowLine => row.state === 'planned');
}

/** Those that it left out, for now, each with its index among them. */
export async function* readLeftOutRows(
  files: Files,
  directory: string,
  planned: PlannedStep,
): AsyncGenerator<{ index: number; row: SkippedRowLine }> {
  if (countLeftOut(planned) === 0) return;
  yield* filterRows(readRows(files, directory, planned), isLeftOut);
}

export function isLeftOut(row: RowLine): row is SkippedRowLine {
  return row.state === 'skipped' && isLeftOutCode(row.skip.code);
}

export function countLeftOut({ skips }: Pick<PlannedStep, 'skips'>): number {
  return LEFT_OUT_CODES.reduce((sum, code) => sum + (skips[code] ?? 0), 0);
}

/** The place of a row in its id: among the planned rows of its step, those that it refused, or those that it left out. */
export type RowOrdinal = Pick<RowId, 'isPlanned' | 'isLeftOut' | 'index'>;

/** To be asked for each row of a step, in their order. Undefined for one that was skipped for good: it has no id. */
export function createOrdinals(): (row: RowLine) => RowOrdinal | undefined {
  const next = { planned: 0, rejected: 0, leftOut: 0 };
  return (row) => {
    if (row.state !== 'skipped') return { isPlanned: row.state === 'planned', index: next[row.state]++ };
    return isLeftOut(row) ? { isPlanned: false, isLeftOut: true, index: next.leftOut++ } : undefined;
  };
}

/** All rows of a step, in the order of their file. */
export async function* readRows(files: Files, directory: string, planned: PlannedStep): AsyncGenerator<RowLine> {
  for await (const batch of readRowBatches(files, directory, planned)) yield* batch;
}

async function* filterRows<Row extends RowLine>(
  rows: AsyncIterable<RowLine>,
  isWanted: (row: RowLine) => row is Row,
): AsyncGenerator<{ index: number; row: Row }> {
  let index = 0;
  for await (const row of rows) {
    if (!isWanted(row)) continue;
    yield { index, row };
    index += 1;
  }
}
