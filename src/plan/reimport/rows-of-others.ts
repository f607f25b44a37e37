import { LEFT_OUT_CODES } from '../../domain/row-codes.js';
import type { Files } from '../../storage/files.js';
import { type Plan, rowsFile } from '../format/plan-file.js';
import { readRowLines } from '../format/planned-files.js';
import { countLeftOut } from '../format/planned-rows.js';
import { decodeRowLine } from '../format/row-line.js';

/** A row that is one of another run, and that the plan sends, or leaves out for now. */
export interface RowOfOther {
  readonly kind: string;
  readonly step: number;
  readonly isPlanned: boolean;
  /** Among the planned rows of the step, or among those that it left out. */
  readonly index: number;
  /** In the other run. */
  readonly id: string;
  /** By what rows of a step are compared, where they are: its first fact; undefined where it is not planned. */
  readonly key: string | undefined;
  /** File and line. */
  readonly where: string;
}

/** Rows of other runs that a plan has: those that it would send, and those that it leaves out for now. */
export async function* readRowsOfOthers(
  files: Files,
  { directory, plan }: { readonly directory: string; readonly plan: Plan },
): AsyncGenerator<RowOfOther> {
  for (const step of plan.steps) {
    const { kind, number, inputs, counts } = step;
    const hasAny = plan.retryOf !== undefined || inputs.some(({ fedFrom }) => fedFrom !== undefined);
    if (!hasAny || counts.planned + countLeftOut(step) === 0) continue;
    const path = rowsFile(directory, step);
    const next = { planned: 0, leftOut: 0 };
    for await (const line of readRowLines(files, directory, step)) {
      const state = stateOf(line);
      if (state === undefined) continue;
      const index = next[state];
      next[state] += 1;
      // Cells end a line of any other row.
      if (!line.subarray(-2).equals(ID_END)) continue;
      const row = decodeRowLine(line.toString('utf8'), path);
      if (row.from === undefined) continue;
      yield {
        kind,
        step: number,
        isPlanned: state === 'planned',
        index,
        id: row.from,
        key: row.state === 'planned' ? row.facts[0] : undefined,
        where: `${inputs[row.file]?.file}:${row.line}`,
      };
    }
  }
}

const ID_END = Buffer.from('"]');
const STATE_AT = 2;
const PLANNED = 'p'.charCodeAt(0);
const SKIPPED = 's'.charCodeAt(0);
const LEFT_OUT = LEFT_OUT_CODES.map((code) => Buffer.from(`["${code}",`));

/** By its bytes; undefined for a row that is neither. */
function stateOf(line: Buffer): 'planned' | 'leftOut' | undefined {
  if (line[STATE_AT] === PLANNED) return 'planned';
  if (line[STATE_AT] !== SKIPPED) return undefined;
  const about = line.indexOf('[', STATE_AT);
  return LEFT_OUT.some((start) => line.subarray(about, about + start.length).equals(start)) ? 'leftOut' : undefined;
}
