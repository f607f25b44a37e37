import { join } from 'node:path';
import { cellsOf } from '../domain/bytes/row-writer.js';
import { UserError } from '../domain/errors.js';
import { remember } from '../domain/is-object.js';
import { isLeftOutCode, isWithheld } from '../domain/row-codes.js';
import { bindWhere } from '../filter/bind-rows.js';
import { numbersOf } from '../filter/compile-test.js';
import { isRowStep, type Job } from '../job/job.js';
import { dropSample } from '../job/planned-job.js';
import type { RowRange } from '../journal/entry-format.js';
import { addRow, RowRanges, type RowStatusView } from '../journal/row-status-view.js';
import { formatRowId, planIdInstead, planIdOf } from '../kinds/ids.js';
import { Columns } from '../normalize/columns.js';
import { JOURNAL_FILE, type PlanAt, type PlannedStep, type RetryOf } from '../plan/format/plan-file.js';
import { countLeftOut, isLeftOut } from '../plan/format/planned-files.js';
import type { RowLine } from '../plan/format/row-line.js';
import type { RunDirectories } from '../plan/format/run-directories.js';
import type { MadePlan } from '../plan/make-plan.js';
import type { PlanDeps } from '../plan/plan-deps.js';
import { type IsAsked, type NamedRow, readNamedRows } from '../plan/reimport/named-rows.js';
import { makeRetryPlan } from '../plan/retry-and-test-plans.js';
import { listClaimed, listFilesOf } from '../registry/claims.js';
import type { JobRows } from '../registry/job-rows.js';
import { createTwins } from '../registry/twins.js';
import { countRetried } from '../report/run-rows.js';
import type { Files } from '../storage/files.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';

interface RetryRequest extends PlanAt {
  readonly lock: Lock;
  readonly directories: RunDirectories;
  readonly rows: JobRows;
  readonly choice: RetryChoice;
  /** How its rows are sent; undefined: as they were planned. */
  readonly job?: Job | undefined;
}

/** Writes the plan of some rows of a run. `anew`: its id, where it was made before. */
export async function makePlanOf(
  ranges: readonly RowRange[],
  { directory, plan, lock, directories, choice, rows, job = plan.job }: RetryRequest,
  deps: Ports & { readonly plan: PlanDeps },
  anew?: string,
): Promise<MadePlan> {
  const isOfLeftOut = isLeftOutCode(choice.only);
  const retryOf = { run: plan.id, only: choice.only, codes: [...choice.codes] };
  const twins = createTwins(rows, { id: anew, job, occurrence: plan.occurrence, retryOf });
  for (const file of listFilesOf(plan, rows.registry.claims)) {
    const gone = await twins.load(file);
    // Rows that were left out were compared with none.
    if (gone !== undefined && isOfLeftOut) throw refuseGone(plan.id, gone);
  }
  const chosen = new Map<number, RowRanges<true>>();
  for (const [step, first, count] of ranges)
    remember(chosen, step, () => new RowRanges<true>()).add([first, count], true);
  const readChosen = async function* (planned: PlannedStep): AsyncGenerator<RowLine> {
    const { kind, number } = planned;
    const isChosen: IsAsked = (row, index) => mayTake(choice, row) && chosen.get(number)?.find(index) === true;
    for await (const { row, id } of readNamedRows(deps.files, { directory, plan }, planned, isChosen)) {
      if (id === undefined) continue;
      // A receipt may come after the plan had claimed it.
      const sender = await rows.findReceived(kind, id, { job, occurrence: plan.occurrence });
      if (sender === undefined) yield { ...row, from: formatRowId(id) };
    }
  };
  // Made of the rows, so that the same rows give the same id; rows that were left out have places of their own.
  const identity = JSON.stringify({ retryOf: plan.id, leftOut: isOfLeftOut ? choice.only : undefined, ranges });
  const head = {
    id: planIdInstead(planIdOf(identity), (id) => rows.registry.isAbandoned(id)),
    occurrence: plan.occurrence,
    job: dropSample(job),
    retryOf,
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
  const { rows, choice } = request;
  const plans = new Map<string, RowRange[]>();
  const isAsked: IsAsked = (row) => mayTake(choice, row);
  for await (const { step, index, claim } of listClaimed(deps.files, request, rows.registry.claims, isAsked)) {
    const { plan, retryOf } = claim;
    if (retryOf?.only !== choice.only || retryOf.codes.join() !== choice.codes.join()) continue;
    const ranges = remember(plans, plan, (): RowRange[] => []);
    addRow(ranges, step, index);
  }
  for (const [id, ranges] of plans) {
    const { abandoned, journal } = rows.registry.recordOf(id);
    // One whose journal is gone may have sent them.
    const isTheirs = abandoned === undefined && journal === undefined;
    if (!isTheirs || !(await isUnbegun(request.directories.of(id), deps.files))) continue;
    made.push(await makePlanOf(ranges, request, deps, id));
  }
  return made;
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

/** Rows that the plan sends, or those that it left out. */
function mayTake({ only }: RetryChoice, row: RowLine): boolean {
  return isLeftOutCode(only) ? isLeftOut(row) : row.state === 'planned';
}

/** The verdict of a row that its run gave up, so that another plan may send it. */
export const GAVE_UP = {
  status: 'not-sent',
  code: 'given-up',
  reason: 'Claimed by `volley retry`, for a plan that has not been made yet',
} as const;

/** Whether a planned row is one of those that are chosen, and its run still has it. */
function createChooser(rows: RowStatusView, { only, codes }: RetryChoice): (step: number, row: number) => boolean {
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

/**
 * Finds the planned rows that are chosen and that their run still has, or the rows that `where` left out and that match the `where` of now.
 * None of which a receipt shows that it was sent: a person's word, or an export, may be wrong; and a listener may have died before it had
 * joined what it took.
 */
export async function chooseRetried(
  statuses: RowStatusView,
  { directory, plan, rows, choice, job = plan.job }: RetryRequest,
  { files }: { readonly files: Files },
): Promise<RowsToRetry> {
  const { only } = choice;
  const isWanted = createChooser(statuses, choice);
  const filters = plan.steps.map(({ number, inputs }) =>
    inputs.map(({ columns }) => (only === 'filtered' ? bindFilter(job, number, columns) : undefined)),
  );
  const isAsked: IsAsked = (row, index, { number }) =>
    isLeftOutCode(only)
      ? row.state === 'skipped' && row.skip.code === only
      : row.state === 'planned' && isWanted(number, index);
  const judge = async ({ kind, number }: PlannedStep, { row, id }: NamedRow) => {
    if (id === undefined) return undefined;
    if (row.state === 'skipped') {
      if (rows.registry.claims.findNext(kind, id, plan, false).next !== undefined) return 'retriedBefore';
      if (filters[number - 1]?.[row.file]?.(cellsOf(row.cells))?.kind === 'skipped') return 'filtered';
    }
    const sender = await rows.findReceived(kind, id, { job, occurrence: plan.occurrence });
    return sender === undefined ? 'chosen' : 'received';
  };
  const ranges: RowRange[] = [];
  const counts = { filtered: 0, received: 0, retriedBefore: 0 };
  for (const planned of plan.steps) {
    if (!isLeftOutCode(only)) counts.retriedBefore += countRetried(statuses.state.step(planned.number));
    if ((isLeftOutCode(only) ? countLeftOut(planned) : planned.counts.planned) === 0) continue;
    for await (const named of readNamedRows(files, { directory, plan }, planned, isAsked)) {
      const found = await judge(planned, named);
      if (found === 'chosen') addRow(ranges, planned.number, named.index);
      else if (found !== undefined) counts[found] += 1;
    }
  }
  return { ranges, ...counts };
}

/** Binds the `where` of a step; undefined where it has none, or a column is missing: the plan refuses that, with its place in the job. */
function bindFilter(job: Job, step: number, names: readonly string[]) {
  const written = job.steps[step - 1];
  if (written === undefined || !isRowStep(written) || written.input.where === undefined) return undefined;
  const columns = new Columns(names);
  const refuseRow = bindWhere(written.input.where, columns, numbersOf(written));
  return columns.problems.length === 0 ? refuseRow : undefined;
}
