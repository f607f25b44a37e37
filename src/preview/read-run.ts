import type { PlanAt, PlannedStep } from '../plan/format/plan-file.js';
import { readRequests, readRows } from '../plan/format/planned-files.js';
import type { Files } from '../storage/files.js';
import { type ChosenRows, RowChooser } from './choose-rows.js';
import { type PreviewedRow, PreviewedRows } from './previewed-rows.js';

/** The rows of one step that are shown. */
export interface PreviewedStep {
  readonly number: number;
  /** By which rows name their file, and the names of their cells. */
  readonly inputs: readonly { readonly file: string; readonly columns: readonly string[] }[];
  readonly rows: readonly PreviewedRow[];
  /** Rows that were looked at. */
  readonly seen: number;
}

/** Reads chosen rows of a plan from the bytes that are sent. */
export async function previewRun(
  files: Files,
  { directory, plan }: PlanAt,
  { choice, count, only }: ChosenRows,
): Promise<PreviewedStep[]> {
  const steps: PreviewedStep[] = [];
  for (const step of plan.steps) {
    if (step.counts.read === 0 || (only !== undefined && step.kind !== only)) continue;
    const chooser = new RowChooser(choice, count);
    const rows = new PreviewedRows(step.kind, (row) => chooser.see(row));
    const requests = readRequests(files, directory, step);
    try {
      for await (const row of readRows(files, directory, step)) {
        rows.addRow(row);
        while (rows.needsRequest) {
          const next = await requests.next();
          if (next.done === true) break;
          rows.addRequest(next.value.body);
        }
        if (chooser.isDone) break;
      }
    } finally {
      await requests.return(undefined);
    }
    const priced = chooser.rows.map((each) => ({ ...each, price: findPrice(each, step.cost?.groups) }));
    steps.push({ number: step.number, inputs: step.inputs, rows: priced, seen: chooser.seen });
  }
  return steps;
}

/** By the groups of the step's cost. */
export function findPrice(
  { row }: PreviewedRow,
  groups: NonNullable<PlannedStep['cost']>['groups'] = [],
): string | null | undefined {
  if (row.state !== 'planned' || row.costGroup === undefined) return undefined;
  return groups[row.costGroup]?.rowCost ?? null;
}
