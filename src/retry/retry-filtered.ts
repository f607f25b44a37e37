import { dirname } from 'node:path';
import { UserError } from '../domain/errors.js';
import { cellsOf } from '../domain/row.js';
import { bindWhere, type RowFilter } from '../filter/bind-where.js';
import { isRowStep, type Job } from '../job/job.js';
import { PERSON, type RowRange } from '../journal/entry-format.js';
import { kindOf } from '../kinds/kinds.js';
import type { Plan, PlannedStep } from '../plan/format/plan-file.js';
import { readFilteredRows, readPlannedRows } from '../plan/format/planned-rows.js';
import type { RetrySource } from '../plan/make-retry-plan.js';
import type { PlanDeps } from '../plan/plan-deps.js';
import type { AppendDeps } from '../registry/append-to-run.js';
import type { Claims } from '../registry/claims.js';
import { type PastRun, readHistory } from '../registry/history.js';
import { listClaimsOn } from '../registry/note-claims.js';
import type { Registry } from '../registry/registry.js';
import { lineOf } from './retried-line.js';
import { type MadeRetry, makeAnew, makePlanOf, type RetryRequest } from './retry-plan.js';

/** Of the rows that `where` left out. */
export interface FilteredEnd {
  readonly made: MadeRetry | undefined;
  readonly anew: readonly MadeRetry[];
  /** Rows that the `where` of now leaves out too: their run keeps them. */
  readonly filtered: number;
  readonly received: number;
  /** Rows that other plans have claimed. */
  readonly retriedBefore: number;
}

type Deps = AppendDeps & { readonly plan: PlanDeps };

/**
 * Makes a plan of the rows that `where` left out of a run and that match the `where` of now, and claims them for it in the registry, for
 * good. The others stay where they are, for a later `where`. In the journal of the run nothing is noted: to it they were never planned.
 */
export async function retryFiltered(
  request: RetryRequest & { readonly registry: Registry },
  person: string,
  deps: Deps,
): Promise<FilteredEnd> {
  const { plan, registry } = request;
  const history = await readHistory(deps.files, dirname(request.directory));
  const counts = { filtered: 0, received: 0, retriedBefore: 0 };
  const chosen = new Map<number, Set<number>>();
  for (const planned of plan.steps) chosen.set(planned.number, await chooseRows(planned, request, { counts, deps }));
  const ranges = [...chosen].flatMap(([step, rows]) => listRanges(step, rows));
  const refuseFor = (anew?: string) => refuseTwins(history, request, { anew, files: deps.files });
  if (ranges.length === 0) {
    return { made: undefined, anew: await makeAnew({ ...request, refuseFor }, deps), ...counts };
  }
  const isChosen = (step: number, row: number) => chosen.get(step)?.has(row) === true;
  const made = await makePlanOf({ ranges, isChosen }, { ...request, refuseFor }, deps);
  await registry.claimRetried(made.plan, { source: plan, ranges, by: `${PERSON} ${person}` });
  return { made, anew: [], ...counts };
}

async function chooseRows(
  planned: PlannedStep,
  { directory, plan, claims, received, job = plan.job }: RetryRequest,
  { counts, deps }: { counts: { filtered: number; received: number; retriedBefore: number }; deps: Deps },
): Promise<Set<number>> {
  const chosen = new Set<number>();
  const { number: step } = planned;
  const own = listClaimsOn({ plan }, claims, 'filtered').filter((each) => each.step === step);
  const filters = planned.inputs.map(({ columns }) => bindFilter(job, step, columns, deps));
  for await (const { index, row } of readFilteredRows(deps.files, directory, planned)) {
    const refusal = filters[row.file]?.refuse(cellsOf(row.cells));
    const of = { run: plan.id, step, isFiltered: true, index } as const;
    if (own.some(({ claim }) => claim.has(index))) counts.retriedBefore += 1;
    else if (refusal?.kind === 'skipped') counts.filtered += 1;
    else if (await received.has(of)) counts.received += 1;
    else chosen.add(index);
  }
  return chosen;
}

/** Undefined where every row takes part; also where a column is missing: the plan refuses it, with its place in the job. */
function bindFilter(job: Job, step: number, columns: readonly string[], deps: Deps): RowFilter | undefined {
  const written = job.steps[step - 1];
  const where = written !== undefined && isRowStep(written) ? written.input.where : undefined;
  const filter = where && bindWhere(where, columns, deps.plan.reader.findColumn);
  return filter !== undefined && 'refuse' in filter ? filter : undefined;
}

function listRanges(step: number, rows: ReadonlySet<number>): RowRange[] {
  const ranges: [number, number, number][] = [];
  for (const row of rows) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + last[2] === row) last[2] += 1;
    else ranges.push([step, row, 1]);
  }
  return ranges;
}

/**
 * `where` omits rows before they are compared with others: a number that it left out in one row may have got its message by another. Refuses
 * such twins of rows of the run, of those that it has its rows from, and of the plans that retry rows of any of these; a row is no twin of
 * itself, where the run has it from one of them. `anew`: the plan that is made again.
 */
async function refuseTwins(
  history: readonly PastRun[],
  { plan, claims, job = plan.job }: RetryRequest,
  { anew, files }: { anew: string | undefined; files: Deps['files'] },
): Promise<NonNullable<RetrySource['refuseIn']>> {
  const plans = new Map(history.map((run) => [run.plan.id, run.plan]));
  const line = lineOf(plan, plans);
  const gone = line.find((id) => !plans.has(id));
  if (gone !== undefined) throw refuseGone(plan.id, gone);
  const unknown = findGoneRetry(claims, plans, line.at(-1));
  if (unknown !== undefined) throw refuseGone(plan.id, unknown);
  const isOfFamily = (run: PastRun) => {
    const mayBeSent = run.plan.retryOf === undefined || claims.countOf(run.plan.id) > 0;
    return mayBeSent && run.plan.id !== anew && lineOf(run.plan, plans).at(-1) === line.at(-1);
  };
  const taken = new Map<number, Map<string, string>>();
  for (const { directory, plan: other } of history.filter(isOfFamily)) {
    const given = listClaimsOn({ plan: other }, claims).filter(({ claim }) => line.includes(claim.entry.plan));
    for (const planned of other.steps) {
      if (comparesBy(job, planned.number) === undefined) continue;
      const names = taken.get(planned.number) ?? new Map<string, string>();
      taken.set(planned.number, names);
      for await (const { index, row } of readPlannedRows(files, directory, planned)) {
        const isGiven = given.some(({ step, claim }) => step === planned.number && claim.has(index));
        if (!isGiven) names.set(row.facts[0] ?? '', other.id);
      }
    }
  }
  return (step) => (facts) => {
    const other = taken.get(step)?.get(facts[0] ?? '');
    if (other === undefined) return undefined;
    const reason = `A row of plan ${other} has the same ${comparesBy(job, step)}`;
    return { kind: 'skipped', skip: { code: 'duplicate', reason } };
  };
}

/** A plan that had filtered rows of the same file, and is gone or pruned: nothing else says which numbers they have. */
function findGoneRetry(claims: Claims, plans: ReadonlyMap<string, Plan>, root: string | undefined): string | undefined {
  const retries = new Map([...plans].flatMap(([id, { retryOf }]) => (retryOf === undefined ? [] : [[id, retryOf]])));
  for (const id of claims.plans) {
    const retryOf = claims.entriesOf(id)[0]?.retryOf;
    if (retryOf != null) retries.set(id, retryOf);
  }
  const rootOf = (id: string): string => {
    const retryOf = retries.get(id);
    return retryOf === undefined ? id : rootOf(retryOf.run);
  };
  return [...retries].find(([id, { only }]) => only === 'filtered' && !plans.has(id) && rootOf(id) === root)?.[0];
}

function comparesBy(job: Job, number: number): 'number' | 'session' | undefined {
  const step = job.steps[number - 1];
  return step !== undefined && isRowStep(step) ? kindOf(step).comparesBy?.(step) : undefined;
}

function refuseGone(run: string, gone: string): UserError {
  return new UserError(
    'plan-mismatch',
    `Cannot retry filtered rows of run ${run}: run ${gone} is gone or pruned, and with it to whom it sent, they might be sent twice`,
    {
      hint: 'Put its directory back from a backup, with --adopt. Or send the rows from a file of their own, without those that were sent.',
    },
  );
}
