import type { Files } from '../../storage/files.js';
import type { Plan } from '../format/plan-file.js';
import { countLeftOut, createOrdinals, type RowOrdinal, readRows } from '../format/planned-rows.js';

/** A row that is one of another run, and that the plan sends, or leaves out for now. */
export interface RowOfOther extends RowOrdinal {
  readonly kind: string;
  readonly step: number;
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
    const ordinalOf = createOrdinals();
    for await (const row of readRows(files, directory, step)) {
      const ordinal = ordinalOf(row);
      if (row.state === 'rejected' || row.from === undefined || ordinal === undefined) continue;
      yield {
        ...ordinal,
        kind,
        step: number,
        id: row.from,
        key: row.state === 'planned' ? row.facts[0] : undefined,
        where: `${inputs[row.file]?.file}:${row.line}`,
      };
    }
  }
}
