import { join } from 'node:path';
import { cellsOf } from '../domain/bytes/row-writer.js';
import { UserError } from '../domain/errors.js';
import { remember } from '../domain/is-object.js';
import { isWithheld } from '../domain/row-codes.js';
import { bindWhere, type RowFilter } from '../filter/bind-where.js';
import { numbersOf } from '../filter/compile-country-test.js';
import { isRowStep, type Job } from '../job/job.js';
import { dropSample } from '../job/stages.js';
import type { RowRange } from '../journal/entry-format.js';
import { addRow, RowRanges } from '../journal/row-status/row-ranges.js';
import type { RowStatusView } from '../journal/row-status/row-status-view.js';
import { formatRowId, planIdInstead, planIdOf } from '../kinds/ids.js';
import { Columns } from '../normalize/columns.js';
import { JOURNAL_FILE, type Plan, type PlannedStep, type RetryOf } from '../plan/format/plan-file.js';
import { readLeftOutRows, readPlannedRows } from '../plan/format/planned-rows.js';
import type { RowLine } from '../plan/format/row-line.js';
import type { RunDirectories } from '../plan/format/run-directories.js';
import { makeRetryPlan } from '../plan/make-retry-plan.js';
import type { PlanDeps } from '../plan/plan-deps.js';
import type { MadePlan } from '../plan/write-new-plan.js';
import { listClaimsOn, rowsOf } from '../registry/claim-rows.js';
import type { Claim } from '../registry/claims.js';
import type { PastRun } from '../registry/read-runs.js';
import type { ReceivedRows } from '../registry/received-rows.js';
import type { RegistryState } from '../registry/registry-state.js';
import { Twins } from '../registry/twins.js';
import type { Files } from '../storage/files.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';

/** Part of the id, which stays the same for the same rows: not the format of plan.json. */
const RETRY_ID_FORMAT = 3;

export interface RetryRequest {
  readonly directory: string;
  readonly plan: Plan;
  readonly lock: Lock;
  readonly directories: RunDirectories;
  readonly registry: RegistryState;
  /** Of its job. */
  readonly history: readonly PastRun[];
  readonly choice: RetryChoice;
  readonly received: ReceivedRows;
  /** How its rows are sent; undefined: as they were planned. */
  readonly job?: Job | undefined;
}

/** Writes the plan of some rows of a run. `anew`: its id, where it was made before. */
export async function makePlanOf(
  ranges: readonly RowRange[],
  { directory, plan, lock, directories, choice, received, job = plan.job, registry, history }: RetryRequest,
  deps: Ports & { readonly plan: PlanDeps },
  anew?: string,
): Promise<MadePlan> {
  const of = rowsOf(choice.only);
  const idOf = (step: number, index: number) => ({ run: plan.id, step, ...of, index });
  const twins = new Twins(
    { files: deps.files, registry, history, received },
    { id: anew, job, occurrence: plan.occurrence },
  );
  const chosen = new Map<number, RowRanges<true>>();
  for (const [step, first, count] of ranges) {
    remember(chosen, step, () => new RowRanges<true>()).add([first, count], true);
    for (let index = first; index < first + count; index++) {
      const gone = await twins.load(formatRowId(idOf(step, index)));
      // Rows that were left out were compared with none.
      if (gone !== undefined && of.isLeftOut) throw refuseGone(plan.id, gone);
    }
  }
  const read = of.isLeftOut ? readLeftOutRows : readPlannedRows;
  const readChosen = async function* (planned: PlannedStep): AsyncGenerator<RowLine> {
    for await (const { index, row } of read(deps.files, directory, planned)) {
      if (chosen.get(planned.number)?.find(index) === undefined) continue;
      const id = idOf(planned.number, index);
      // A receipt may come after the plan had claimed it.
      if (!(await received.has(id))) yield { ...row, from: formatRowId(id) };
    }
  };
  const identity = JSON.stringify({
    format: RETRY_ID_FORMAT,
    run: plan.id,
    rows: `${of.isLeftOut ? `${choice.only} ` : ''}${JSON.stringify(ranges)}`,
  });
  const head = {
    id: planIdInstead(planIdOf(identity), (id) => registry.isAbandoned(id)),
    occurrence: plan.occurrence,
    job: dropSample(job),
    retryOf: { run: plan.id, only: choice.only, codes: [...choice.codes] },
  };
  return makeRetryPlan(
    {
      steps: plan.steps,
      rowsOf: ({ number }) => readChosen(plan.steps[number - 1] as PlannedStep),
      refuseTwin: (step, id, key) => twins.refuse(step, id, key),
    },
    head,
    {
      deps: deps.plan,
      place: { directories, assertHeld: () => lock.assertHeld(), nowMs: deps.clock.now() },
      task: `retry rows of run ${plan.id}`,
      hint: 'Change it in the job file, and name that with --job',
    },
  );
}

/**
 * Makes anew the plans that the same choice made before, and that nobody has begun to send. Their rows are theirs already: only
 * whom the suppression lists leave out may be others by now, and which rows a receipt shows.
 */
export async function makeAnew(request: RetryRequest, deps: Ports & { readonly plan: PlanDeps }): Promise<MadePlan[]> {
  const made: MadePlan[] = [];
  const { registry, choice } = request;
  const claims = listClaimsOn(request, registry.claims, choice.only).filter(({ claim }) => isSameChoice(claim, choice));
  for (const id of new Set(claims.map(({ claim }) => claim.of.plan))) {
    if (registry.isAbandoned(id) || !(await isUnbegun(request.directories.of(id), deps.files))) continue;
    const own = claims.filter(({ claim }) => claim.of.plan === id);
    const ranges = own.flatMap(({ step, claim }) => {
      return [...claim.ranges()].map(([first, count]): RowRange => [step, first, count]);
    });
    made.push(await makePlanOf(ranges, request, deps, id));
  }
  return made;
}

function isSameChoice({ of: { retryOf } }: Claim, { only, codes }: RetryChoice): boolean {
  return retryOf?.only === only && retryOf.codes.join() === codes.join();
}

/** One whose directory is gone may have been sent. One without plan.json is being replaced by a command that died. */
async function isUnbegun(directory: string, files: Ports['files']): Promise<boolean> {
  return (await files.stat(directory)) !== undefined && (await files.stat(join(directory, JOURNAL_FILE))) === undefined;
}

function refuseGone(run: string, gone: string): UserError {
  return new UserError(
    'plan-mismatch',
    `Cannot retry rows that were left out of run ${run}: run ${gone}, which had rows of the same files, is gone or pruned, and with it to whom it sent, they might be sent twice`,
    {
      hint: 'Put its directory back from a backup, with --adopt. Or send the rows from a file of their own, without those that were sent.',
    },
  );
}

export type RetryChoice = Pick<RetryOf, 'only' | 'codes'>;

/** The verdict of a row that its run gave up, so that another plan may send it. */
export const GAVE_UP = {
  status: 'not-sent',
  code: 'given-up',
  reason: 'Claimed by `volley retry`, for a plan that has not been made yet',
} as const;

/** Whether a planned row is one of those that are chosen, and its run still has it. */
export function createChooser(
  rows: RowStatusView,
  { only, codes }: RetryChoice,
): (step: number, row: number) => boolean {
  const wanted = new Set(codes);
  return (step, row) => {
    const standing = rows.currentStatusOf(step, row);
    if (only === 'rejected')
      return standing === 'rejected' && (wanted.size === 0 || wanted.has(rows.codeOf(step, row)));
    const code = standing === 'not-sent' ? rows.codeOf(step, row) : '';
    const isGivenUp = code === GAVE_UP.code || isWithheld(code);
    if (only === 'unprocessed') return standing === 'open' || isGivenUp;
    return standing === 'not-sent' && !isGivenUp;
  };
}

/** The rows of a run that a retry takes, and how many others it does not, by why. */
export interface RowsToRetry {
  readonly ranges: readonly RowRange[];
  /** A delivery receipt tells that they were sent, whatever the run holds of them. */
  readonly received: number;
  readonly retriedBefore: number;
  /** With `--only filtered`: the `where` of now leaves them out too, and their run keeps them for a later one. */
  readonly filtered: number;
}

/** Of the rows that the plan of a run left out: of filtered ones those that match the `where` of now. */
export async function chooseLeftOut(
  { directory, plan, registry, received, choice: { only }, job = plan.job }: RetryRequest,
  { files }: { readonly files: Files },
): Promise<RowsToRetry> {
  const ranges: RowRange[] = [];
  const counts = { filtered: 0, received: 0, retriedBefore: 0 };
  const claims = listClaimsOn({ plan }, registry.claims, only);
  for (const planned of plan.steps) {
    const { number: step } = planned;
    const own = claims.filter((each) => each.step === step);
    const filters = planned.inputs.map(({ columns }) => bindFilter(job, step, columns));
    for await (const { index, row } of readLeftOutRows(files, directory, planned)) {
      if (row.skip.code !== only) continue;
      const refusal = only === 'filtered' ? filters[row.file]?.refuse(cellsOf(row.cells)) : undefined;
      if (own.some(({ claim }) => claim.has(index))) counts.retriedBefore += 1;
      else if (refusal?.kind === 'skipped') counts.filtered += 1;
      else if (await received.has({ run: plan.id, step, isLeftOut: true, index })) counts.received += 1;
      else addRow(ranges, step, index);
    }
  }
  return { ranges, ...counts };
}

/** Undefined where every row takes part; also where a column is missing: the plan refuses it, with its place in the job. */
function bindFilter(job: Job, step: number, names: readonly string[]): RowFilter | undefined {
  const written = job.steps[step - 1];
  if (written === undefined || !isRowStep(written) || written.input.where === undefined) return undefined;
  const columns = new Columns(names);
  const filter = bindWhere(written.input.where, columns, numbersOf(written));
  return columns.problems.length === 0 ? filter : undefined;
}
