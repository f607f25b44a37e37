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
  const path = rowsFile(directory, planned);
  let index = 0;
  for await (const line of readRowLines(files, directory, planned)) {
    const row = decodeRowLine(line.toString('utf8'), path);
    if (row.state !== 'planned') continue;
    yield { index, row };
    index += 1;
  }
}
