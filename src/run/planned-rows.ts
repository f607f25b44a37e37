import type { Files } from '../files.js';
import { splitLines } from '../journal/reader.js';
import { decodeRowLine, type PlannedStep, type RowLine, rowsFile } from '../plan/file.js';

export type PlannedRow = Extract<RowLine, { state: 'planned' }>;

/** The rows of a step that a plan sends, in their order, each with its index among them. */
export async function* readPlannedRows(
  files: Files,
  directory: string,
  planned: PlannedStep,
): AsyncGenerator<{ index: number; row: PlannedRow }> {
  const path = rowsFile(directory, planned);
  const file = await files.openRead(path);
  let index = 0;
  try {
    for await (const { bytes } of splitLines(file)) {
      const row = decodeRowLine(bytes.toString('utf8'), path);
      if (row.state !== 'planned') continue;
      yield { index, row };
      index += 1;
    }
  } finally {
    await file.close();
  }
}
