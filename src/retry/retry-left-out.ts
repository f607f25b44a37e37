import type { FindColumn } from '../domain/find-column.js';
import { cellsOf } from '../domain/row.js';
import { bindWhere, type RowFilter } from '../filter/bind-where.js';
import { numbersOf } from '../filter/compile-country-test.js';
import { isRowStep, type Job } from '../job/job.js';
import type { RowRange } from '../journal/entry-format.js';
import { addRow } from '../journal/row-status/row-ranges.js';
import { Columns } from '../normalize/columns.js';
import type { PlannedStep } from '../plan/format/plan-file.js';
import { readLeftOutRows } from '../plan/format/planned-rows.js';
import type { PlanDeps } from '../plan/plan-deps.js';
import { listClaimsOn } from '../registry/claim-rows.js';
import type { Files } from '../storage/files.js';
import type { RetryRequest } from './retry-plan.js';

/** The rows of a run that a retry takes, and how many others it does not, by why. */
export interface RowsToRetry {
  readonly ranges: readonly RowRange[];
  readonly isChosen: (step: number, row: number) => boolean;
  /** A delivery receipt tells that they were sent, whatever the run holds of them. */
  readonly received: number;
  readonly retriedBefore: number;
  /** With `--only filtered`: the `where` of now leaves them out too, and their run keeps them for a later one. */
  readonly filtered: number;
}

/** Of the rows that the plan of a run left out: of filtered ones those that match the `where` of now. */
export async function chooseLeftOut(
  request: RetryRequest,
  deps: { readonly files: Files; readonly plan: PlanDeps },
): Promise<RowsToRetry> {
  const counts = { filtered: 0, received: 0, retriedBefore: 0 };
  const chosen = new Map<number, Set<number>>();
  const ranges: RowRange[] = [];
  for (const planned of request.plan.steps) {
    const rows = await chooseRows(planned, request, { counts, deps });
    chosen.set(planned.number, rows);
    for (const row of rows) addRow(ranges, planned.number, row);
  }
  return { ranges, isChosen: (step, row) => chosen.get(step)?.has(row) === true, ...counts };
}

async function chooseRows(
  planned: PlannedStep,
  { directory, plan, registry, received, choice: { only }, job = plan.job }: RetryRequest,
  {
    counts,
    deps,
  }: { counts: Record<'filtered' | 'received' | 'retriedBefore', number>; deps: { files: Files; plan: PlanDeps } },
): Promise<Set<number>> {
  const chosen = new Set<number>();
  const { number: step } = planned;
  const own = listClaimsOn({ plan }, registry.claims, only).filter((each) => each.step === step);
  const filters = planned.inputs.map(({ columns }) => bindFilter(job, step, columns, deps.plan.reader.findColumn));
  for await (const { index, row } of readLeftOutRows(deps.files, directory, planned)) {
    if (row.skip.code !== only) continue;
    const refusal = only === 'filtered' ? filters[row.file]?.refuse(cellsOf(row.cells)) : undefined;
    const of = { run: plan.id, step, isLeftOut: true, index } as const;
    if (own.some(({ claim }) => claim.has(index))) counts.retriedBefore += 1;
    else if (refusal?.kind === 'skipped') counts.filtered += 1;
    else if (await received.has(of)) counts.received += 1;
    else chosen.add(index);
  }
  return chosen;
}

/** Undefined where every row takes part; also where a column is missing: the plan refuses it, with its place in the job. */
function bindFilter(job: Job, step: number, names: readonly string[], findColumn: FindColumn): RowFilter | undefined {
  const written = job.steps[step - 1];
  if (written === undefined || !isRowStep(written) || written.input.where === undefined) return undefined;
  const columns = new Columns(names, findColumn);
  const filter = bindWhere(written.input.where, columns, numbersOf(written));
  return columns.problems.length === 0 ? filter : undefined;
}
