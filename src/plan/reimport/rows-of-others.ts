import type { Files } from '../../storage/files.js';
import { type Plan, rowsFile } from '../format/plan-file.js';
import { readRowLines } from '../format/planned-files.js';
import { decodeRowLine } from '../format/row-line.js';

/** A planned row that is one of another run. */
export interface RowOfOther {
  readonly kind: string;
  readonly step: number;
  /** Among the planned rows of the step. */
  readonly index: number;
  /** In the other run. */
  readonly id: string;
  /** File and line. */
  readonly where: string;
}

/** Rows of other runs that a plan would send. */
export async function* readRowsOfOthers(
  files: Files,
  { directory, plan }: { readonly directory: string; readonly plan: Plan },
): AsyncGenerator<RowOfOther> {
  for (const step of plan.steps) {
    const { kind, number, inputs, counts } = step;
    const hasAny = plan.retryOf !== undefined || inputs.some(({ fedFrom }) => fedFrom !== undefined);
    if (!hasAny || counts.planned === 0) continue;
    const path = rowsFile(directory, step);
    let planned = 0;
    for await (const line of readRowLines(files, directory, step)) {
      if (line[STATE_AT] !== PLANNED) continue;
      const index = planned;
      planned += 1;
      // Cells end a line of any other row.
      if (!line.subarray(-2).equals(ID_END)) continue;
      const row = decodeRowLine(line.toString('utf8'), path);
      if (row.from === undefined) continue;
      yield { kind, step: number, index, id: row.from, where: `${inputs[row.file]?.file}:${row.line}` };
    }
  }
}

const ID_END = Buffer.from('"]');
const STATE_AT = 2;
const PLANNED = 'p'.charCodeAt(0);
