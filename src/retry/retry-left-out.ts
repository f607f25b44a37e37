import type { FindColumn } from '../domain/find-column.js';
import { cellsOf } from '../domain/row.js';
import { bindWhere, type RowFilter } from '../filter/bind-where.js';
import { numbersOf } from '../filter/compile-country-test.js';
import { isRowStep, type Job } from '../job/job.js';
import { PERSON, type RowRange } from '../journal/entry-format.js';
import { addRow } from '../journal/row-status/row-ranges.js';
import type { PlannedStep } from '../plan/format/plan-file.js';
import { readLeftOutRows } from '../plan/format/planned-rows.js';
import type { PlanDeps } from '../plan/plan-deps.js';
import type { MadePlan } from '../plan/write-new-plan.js';
import { listClaimsOn } from '../registry/claim-rows.js';
import type { Registry } from '../registry/registry.js';
import type { Files } from '../storage/files.js';
import type { Ports } from '../storage/lock-file.js';
import { makeAnew, makePlanOf, type RetryRequest } from './retry-plan.js';

/** Of the rows that a plan left out. */
interface LeftOutEnd {
  readonly made: MadePlan | undefined;
  readonly anew: readonly MadePlan[];
  /** Rows that the `where` of now leaves out too: their run keeps them. */
  readonly filtered: number;
  readonly received: number;
  /** Rows that other plans have claimed. */
  readonly retriedBefore: number;
}

/**
 * Makes a plan of rows that the plan of a run left out, and claims them for it in the memory, for good: of filtered ones those that match
 * the `where` of now, as the others stay where they are, for a later `where`. In the journal of the run nothing is noted: to it they were
 * never planned.
 */
export async function retryLeftOut(
  request: RetryRequest,
  { registry, person }: { registry: Registry; person: string },
  deps: Ports & { readonly plan: PlanDeps },
): Promise<LeftOutEnd> {
  const { plan } = request;
  const counts = { filtered: 0, received: 0, retriedBefore: 0 };
  const chosen = new Map<number, Set<number>>();
  for (const planned of plan.steps) chosen.set(planned.number, await chooseRows(planned, request, { counts, deps }));
  const ranges: RowRange[] = [];
  for (const [step, rows] of chosen) for (const row of rows) addRow(ranges, step, row);
  if (ranges.length === 0) return { made: undefined, anew: await makeAnew(request, deps), ...counts };
  const isChosen = (step: number, row: number) => chosen.get(step)?.has(row) === true;
  const made = await makePlanOf({ ranges, isChosen }, request, deps);
  await registry.claimRetried(made.plan, { source: plan, ranges, by: `${PERSON} ${person}` });
  return { made, anew: [], ...counts };
}

async function chooseRows(
  planned: PlannedStep,
  { directory, plan, registry, received, choice: { only }, job = plan.job }: RetryRequest,
  {
    counts,
    deps,
  }: { counts: { filtered: number; received: number; retriedBefore: number }; deps: { files: Files; plan: PlanDeps } },
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
function bindFilter(job: Job, step: number, columns: readonly string[], findColumn: FindColumn): RowFilter | undefined {
  const written = job.steps[step - 1];
  if (written === undefined || !isRowStep(written) || written.input.where === undefined) return undefined;
  const filter = bindWhere(written.input.where, columns, { findColumn, numbers: numbersOf(written) });
  return 'refuse' in filter ? filter : undefined;
}
