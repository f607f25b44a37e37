import type { Files } from '../../storage/files.js';
import { type Plan, rowsFile } from '../format/plan-file.js';
import { readRowLines } from '../format/planned-files.js';
import { countFiltered } from '../format/planned-rows.js';
import { decodeRowLine } from '../format/row-line.js';

/** A row that is one of another run, and that the plan sends, or left out by its `where`. */
export interface RowOfOther {
  readonly kind: string;
  readonly step: number;
  readonly isPlanned: boolean;
  /** Among the planned rows of the step, or among those that `where` left out. */
  readonly index: number;
  /** In the other run. */
  readonly id: string;
  /** By what rows of a step are compared, where they are: its first fact; undefined where it is not planned. */
  readonly key: string | undefined;
  /** File and line. */
  readonly where: string;
}

/** Rows of other runs that a plan has: those that it would send, and those that only its `where` keeps it from sending. */
export async function* readRowsOfOthers(
  files: Files,
  { directory, plan }: { readonly directory: string; readonly plan: Plan },
): AsyncGenerator<RowOfOther> {
  for (const step of plan.steps) {
    const { kind, number, inputs, counts } = step;
    const hasAny = plan.retryOf !== undefined || inputs.some(({ fedFrom }) => fedFrom !== undefined);
    if (!hasAny || counts.planned + countFiltered(step) === 0) continue;
    const path = rowsFile(directory, step);
    const next = { planned: 0, filtered: 0 };
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
const FILTERED = Buffer.from('["filtered",');

/** By its bytes; undefined for a row that is neither. */
function stateOf(line: Buffer): 'planned' | 'filtered' | undefined {
  if (line[STATE_AT] === PLANNED) return 'planned';
  if (line[STATE_AT] !== SKIPPED) return undefined;
  const about = line.indexOf('[', STATE_AT);
  return line.subarray(about, about + FILTERED.length).equals(FILTERED) ? 'filtered' : undefined;
}
