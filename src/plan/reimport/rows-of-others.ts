import type { Files } from '../../storage/files.js';
import type { Plan } from '../format/plan-file.js';
import { countLeftOut, isLeftOut, readRows } from '../format/planned-rows.js';

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
    const next = { planned: 0, leftOut: 0 };
    for await (const row of readRows(files, directory, step)) {
      const isPlanned = row.state === 'planned';
      if (!isPlanned && !isLeftOut(row)) continue;
      const index = isPlanned ? next.planned++ : next.leftOut++;
      if (row.from === undefined) continue;
      yield {
        kind,
        step: number,
        isPlanned,
        index,
        id: row.from,
        key: isPlanned ? row.facts[0] : undefined,
        where: `${inputs[row.file]?.file}:${row.line}`,
      };
    }
  }
}
