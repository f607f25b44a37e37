import { dirname } from 'node:path';
import type { JournalEntry, RowRange } from '../journal/entry-format.js';
import { readRowId } from '../kinds/ids.js';
import type { Plan } from '../plan/format/plan-file.js';
import { countingFor, isFedFrom, listPlans, readRowsOfOthers } from '../plan/reimport/other-plans.js';
import { type RunRows, readRunRows } from '../report/read-run-rows.js';
import { withdrawSummary } from '../report/write-report.js';
import type { Files } from '../storage/files.js';
import type { Lock } from '../storage/lock.js';
import { type AppendDeps, appendToRun } from './append-to-run.js';
import { createChooser } from './retry-choice.js';

/** Begins the `by` of rows that a plan has because they came back as input. */
const FED = 'fed back';

/** Rows of a run that begun plans have, because its rejections were fed to them; each with the id of its plan. */
export class FedRows {
  readonly #steps = new Map<number, Map<number, string>>();

  static async read(files: Files, directory: string, plan: Plan): Promise<FedRows> {
    const rows = new FedRows();
    for (const other of countingFor(await listPlans(files, dirname(directory)), { ...plan, occurrence: '' })) {
      if (!other.isBegun || !isFedFrom(other, plan.id)) continue;
      for await (const { kind, id } of readRowsOfOthers(files, other)) rows.#add(plan, { kind, id, by: other.plan.id });
    }
    return rows;
  }

  get isEmpty(): boolean {
    return this.#steps.size === 0;
  }

  /** Id of the plan that has a planned row; undefined where none has. */
  planOf(step: number, row: number): string | undefined {
    return this.#steps.get(step)?.get(row);
  }

  /** Those among some rows, by the plan that has them. */
  chooseFrom(ranges: readonly RowRange[]): Map<string, RowRange[]> {
    const chosen = new Map<string, RowRange[]>();
    for (const [step, first, count] of ranges) {
      for (let row = first; row < first + count; row++) {
        const id = this.planOf(step, row);
        if (id === undefined) continue;
        const of = chosen.get(id) ?? [];
        chosen.set(id, of);
        const last = of.at(-1);
        if (last !== undefined && last[0] === step && last[1] + last[2] === row)
          of[of.length - 1] = [step, last[1], last[2] + 1];
        else of.push([step, row, 1]);
      }
    }
    return chosen;
  }

  #add(plan: Plan, { kind, id, by }: { kind: string; id: string; by: string }): void {
    const row = readRowId(id);
    if (row === undefined || row.run !== plan.id || !row.isPlanned) return;
    // A step of another kind does something else with the row.
    if (plan.steps.find(({ number }) => number === row.step)?.kind !== kind) return;
    const step = this.#steps.get(row.step) ?? new Map<number, string>();
    this.#steps.set(row.step, step);
    step.set(row.index, by);
  }
}

/**
 * Notes in the journal of a run which of its rejected rows other plans have because they were fed back: it has them no more.
 * To be called behind the lock before rows of the run are given away; a second time there is nothing to note. Gives the run as it
 * stands then.
 */
export async function noteFedRows(run: RunRows, lock: Lock, deps: AppendDeps): Promise<RunRows> {
  const { directory, plan, rows } = run;
  const fed = await FedRows.read(deps.files, directory, plan);
  if (fed.isEmpty) return run;
  const own = rows.listRanges(createChooser(rows, { only: 'rejected', codes: [] }));
  const entries = [...fed.chooseFrom(own)].map(([id, ranges]): JournalEntry => {
    return { type: 'retry', at: deps.clock.now(), by: FED, plan: id, status: 'rejected', rows: ranges };
  });
  if (entries.length === 0) return run;
  await lock.assertHeld();
  await withdrawSummary(deps.files, directory);
  await appendToRun(run, { entries, lock }, deps);
  return readRunRows(deps.files, run);
}
