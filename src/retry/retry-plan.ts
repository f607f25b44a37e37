import { dirname, join } from 'node:path';
import type { Job } from '../job/job.js';
import type { RetryEntry, RowRange } from '../journal/entry-format.js';
import { PERSON } from '../journal/row-status/row-ends.js';
import { type RowRanges, rangesOf } from '../journal/row-status/row-ranges.js';
import type { RowStatusView } from '../journal/row-status/row-status-view.js';
import { formatRowId } from '../kinds/ids.js';
import { JOURNAL_FILE, PLAN_FILE, type Plan, type PlannedStep, readPlan } from '../plan/format/plan-file.js';
import { readPlannedRows } from '../plan/format/planned-rows.js';
import type { RowLine } from '../plan/format/row-line.js';
import { makeRetryPlan } from '../plan/make-retry-plan.js';
import type { PlanDeps } from '../plan/plan-deps.js';
import type { AppendDeps } from '../registry/append-to-run.js';
import { FedRows } from '../registry/note-fed-rows.js';
import type { RetryChoice } from '../registry/retry-choice.js';
import type { Lock } from '../storage/lock.js';
import type { ReceivedRows } from './received-rows.js';

export interface MadeRetry {
  readonly plan: Plan;
  readonly directory: string;
}

export interface RetrySource {
  readonly directory: string;
  readonly plan: Plan;
  readonly lock: Lock;
  readonly choice: RetryChoice;
  readonly received: ReceivedRows;
  /** How its rows are sent; undefined: as they were planned. */
  readonly job?: Job | undefined;
}

/** Writes the plan of some rows of a run; whoever was given it before has it no more. */
export async function makePlanOf(
  { ranges, isChosen }: { ranges: readonly RowRange[]; isChosen: (step: number, row: number) => boolean },
  { directory, plan, lock, choice, received, job = plan.job }: RetrySource,
  deps: AppendDeps & { readonly plan: PlanDeps },
): Promise<MadeRetry> {
  const { files } = deps;
  const fed = await FedRows.read(files, directory, plan);
  const isRefused = choice.only === 'rejected';
  const wasSent = (step: number, index: number) => received.has({ run: plan.id, step, index }, { isRefused });
  return makeRetryPlan(
    {
      plan: { ...plan, job },
      identity: JSON.stringify(ranges),
      rowsOf: (planned) => readChosen(planned, { files, directory, run: plan.id, isChosen, fed, wasSent }),
    },
    deps.plan,
    {
      jobDirectory: dirname(directory),
      retryOf: { run: plan.id, only: choice.only, codes: [...choice.codes] },
      assertHeld: () => lock.assertHeld(),
      nowMs: deps.clock.now(),
    },
  );
}

/**
 * Makes anew the plans that the same choice made before, and that nobody has begun to send. Their rows are theirs already: only
 * whom the suppression lists leave out may be others by now, and which rows a receipt tells of.
 */
export async function makeAnew(
  moves: RowStatusView['moves'],
  source: RetrySource,
  deps: AppendDeps & { readonly plan: PlanDeps },
): Promise<MadeRetry[]> {
  const made: MadeRetry[] = [];
  for (const entry of moves.values()) {
    if (!(await isUnbegun(entry, source, deps.files))) continue;
    const steps = new Map<number, RowRanges<true>>();
    for (const [step, ...range] of entry.rows) {
      rangesOf(steps, step).add(range, true);
    }
    const isChosen = (step: number, row: number) => steps.get(step)?.find(row) === true;
    made.push(await makePlanOf({ ranges: entry.rows, isChosen }, source, deps));
  }
  return made;
}

/** One whose directory is gone may have been sent. One without plan.json is being replaced by a command that died. */
async function isUnbegun(
  { plan: id, by, status }: RetryEntry,
  { directory, plan, choice }: RetrySource,
  files: AppendDeps['files'],
): Promise<boolean> {
  const own = join(dirname(directory), id);
  if ((await files.stat(own)) === undefined || (await files.stat(join(own, JOURNAL_FILE))) !== undefined) return false;
  if ((await files.stat(join(own, PLAN_FILE))) === undefined) {
    return by.startsWith(PERSON) && (status === 'rejected') === (choice.only === 'rejected');
  }
  const { retryOf } = await readPlan(files, own);
  const isSame = retryOf?.run === plan.id && retryOf.only === choice.only;
  return isSame && retryOf.codes.join() === choice.codes.join();
}

async function* readChosen(
  planned: PlannedStep,
  source: {
    files: AppendDeps['files'];
    directory: string;
    run: string;
    isChosen: (step: number, row: number) => boolean;
    /** One may be fed back while its plan is being made anew, and looks as if it were none. */
    fed: FedRows;
    /** A receipt may come after they were given to the plan. */
    wasSent: (step: number, row: number) => Promise<boolean>;
  },
): AsyncGenerator<RowLine> {
  for await (const { index, row } of readPlannedRows(source.files, source.directory, planned)) {
    const { number: step } = planned;
    if (!source.isChosen(step, index) || source.fed.planOf(step, index) !== undefined) continue;
    if (await source.wasSent(step, index)) continue;
    yield { ...row, from: formatRowId({ run: source.run, step, isPlanned: true, index }) };
  }
}
