import type { Files } from '../../storage/files.js';
import { type PlannedStep, rowsFile } from './plan-file.js';
import { readRowLines } from './planned-files.js';
import { decodeRowLine, type RowLine } from './row-line.js';

export type PlannedRowLine = Extract<RowLine, { state: 'planned' }>;

/** The rows of a step that a plan sends, in their order, each with its index among them. */
export async function* readPlannedRows(
  files: Files,
  directory: string,
  planned: PlannedStep,
): AsyncGenerator<{ index: number; row: PlannedRowLine }> {
  yield* readRows(files, { directory, planned }, (row): row is PlannedRowLine => row.state === 'planned');
}

/** Those that its `where` left out, each with its index among them. */
export async function* readFilteredRows(
  files: Files,
  directory: string,
  planned: PlannedStep,
): AsyncGenerator<{ index: number; row: RowLine }> {
  if (countFiltered(planned) === 0) return;
  yield* readRows(files, { directory, planned }, (row): row is RowLine => {
    return row.state === 'skipped' && row.skip.code === 'filtered';
  });
}

export function countFiltered({ skips }: Pick<PlannedStep, 'skips'>): number {
  return skips.filtered ?? 0;
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
