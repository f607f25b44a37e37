import { isLeftOutCode, LEFT_OUT_CODES } from '../../domain/row-codes.js';
import type { Files } from '../../storage/files.js';
import { type PlannedStep, rowsFile } from './plan-file.js';
import { readRowLines } from './planned-files.js';
import { decodeRowLine, type RowLine } from './row-line.js';

export type PlannedRowLine = Extract<RowLine, { state: 'planned' }>;
export type SkippedRowLine = Extract<RowLine, { state: 'skipped' }>;

/** The rows of a step that a plan sends, in their order, each with its index among them. */
export async function* readPlannedRows(
  files: Files,
  directory: string,
  planned: PlannedStep,
): AsyncGenerator<{ index: number; row: PlannedRowLine }> {
  yield* readRows(files, { directory, planned }, (row): row is PlannedRowLine => row.state === 'planned');
}

/** Those that it left out, for now, each with its index among them. */
export async function* readLeftOutRows(
  files: Files,
  directory: string,
  planned: PlannedStep,
): AsyncGenerator<{ index: number; row: SkippedRowLine }> {
  if (countLeftOut(planned) === 0) return;
  yield* readRows(files, { directory, planned }, (row): row is SkippedRowLine => {
    return row.state === 'skipped' && isLeftOutCode(row.skip.code);
  });
}

export function countLeftOut({ skips }: Pick<PlannedStep, 'skips'>): number {
  return LEFT_OUT_CODES.reduce((sum, code) => sum + (skips[code] ?? 0), 0);
}

async function* readRows<Row extends RowLine>(
  files: Files,
  { directory, planned }: { directory: string; planned: PlannedStep },
  isWanted: (row: RowLine) => row is Row,
): AsyncGenerator<{ index: number; row: Row }> {
  const path = rowsFile(directory, planned);
  let index = 0;
  for await (const line of readRowLines(files, directory, planned)) {
    const row = decodeRowLine(line.toString('utf8'), path);
    if (!isWanted(row)) continue;
    yield { index, row };
    index += 1;
  }
}
