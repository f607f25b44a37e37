import { dirname } from 'node:path';
import { UserError } from '../domain/errors.js';
import type { Job } from '../job/job.js';
import type { JournalEntry } from '../journal/entry-format.js';
import { PERSON } from '../journal/row-status/row-ends.js';
import type { RowStatusView } from '../journal/row-status/row-status-view.js';
import type { Plan, PlannedStep } from '../plan/format/plan-file.js';
import type { PlanDeps } from '../plan/plan-deps.js';
import { type AppendDeps, appendToRun } from '../registry/append-to-run.js';
import { noteFedRows } from '../registry/note-fed-rows.js';
import { createChooser, GAVE_UP, type RetryChoice } from '../registry/retry-choice.js';
import { type RunRows, readRunRows } from '../report/read-run-rows.js';
import { withdrawSummary } from '../report/write-report.js';
import { RequestReader } from '../run/send/request-reader.js';
import type { Lock } from '../storage/lock.js';
import { ReceivedRows } from './received-rows.js';
import { type MadeRetry, makeAnew, makePlanOf } from './retry-plan.js';

export interface RetryEnd {
  /** Undefined where no row was chosen. */
  readonly made: MadeRetry | undefined;
  /** Where no row was chosen: plans that the same choice made before, and that nobody has begun to send; made of the same rows. */
  readonly anew: readonly MadeRetry[];
  /** Rows that are not in it, by why. */
  readonly left: {
    readonly refusedInPlan: number;
    readonly inDoubt: number;
    readonly underWay: number;
    /** A delivery receipt tells that they were sent, whatever the run holds of them. */
    readonly received: number;
    readonly retriedBefore: number;
  };
  /** Rejected rows that the run still has, by code. */
  readonly codes: Readonly<Record<string, number>>;
}

/**
 * Makes a plan of rows that were not processed, and gives them to it, for good: their own run neither sends them nor gives them
 * away again. In this order, each durable before the next, so that a process may die at any moment:
 *
 *   1. the plan gets its name; without 3 nobody may send it
 *   2. the run gives up what it had not reached, where that is chosen; it goes on with the rest
 *   3. one entry in the run's journal gives all of the rows to the plan
 *
 * The same command after 1 or 2 makes the same plan again and goes on; after 3 there is nothing left to choose, and it makes
 * the plan anew as long as it was never begun: its suppression lists may be others by now.
 */
export async function retryRun(
  run: { directory: string; plan: Plan; lock: Lock; job?: Job | undefined },
  choice: RetryChoice & { person: string },
  deps: AppendDeps & { readonly plan: PlanDeps },
): Promise<RetryEnd> {
  const received = new ReceivedRows(deps.files, dirname(run.directory));
  try {
    return await retryRows({ ...run, received }, choice, deps);
  } finally {
    await received.close();
  }
}

async function retryRows(
  {
    directory,
    plan,
    lock,
    received,
    job,
  }: { directory: string; plan: Plan; lock: Lock; received: ReceivedRows; job?: Job | undefined },
  { person, ...choice }: RetryChoice & { person: string },
  deps: AppendDeps & { readonly plan: PlanDeps },
): Promise<RetryEnd> {
  const { files } = deps;
  const run = await noteFedRows(await readRunRows(files, { directory, plan }), lock, deps);
  const { rows, state } = run;
  if (state.firstOpen === undefined) {
    throw new UserError('bad-plan', `Cannot retry rows of ${directory}: its plan was never applied`, {
      hint: 'Send it with `volley apply`.',
    });
  }
  const { isChosen, leftOut } = await leaveOutReceived(rows, { plan, choice, received });
  const told = {
    left: {
      refusedInPlan: plan.steps.reduce((sum, { counts }) => sum + counts.rejected, 0),
      inDoubt: rows.countInDoubt(),
      underWay: countInFlight(run),
      received: leftOut,
      retriedBefore: rows.countMoved(),
    },
    codes: Object.fromEntries(rows.countRejected()),
  };
  const ranges = rows.listRanges(isChosen);
  const source = { directory, plan, lock, choice, received, job };
  const give = async (given: JournalEntry[]) => {
    const entries = listEntries(choice.only === 'unprocessed', given, run, deps);
    await lock.assertHeld();
    await withdrawSummary(files, directory);
    await appendToRun(run, { entries, lock }, deps);
  };
  if (ranges.length === 0) {
    // Its run cannot go on with them, and nobody else is to send them.
    if (choice.only === 'unprocessed' && leftOut > 0) await give([]);
    return { made: undefined, anew: await makeAnew(rows.moves, source, deps), ...told };
  }
  const made = await makePlanOf({ ranges, isChosen }, source, deps);
  await give([
    {
      type: 'retry',
      at: deps.clock.now(),
      by: `${PERSON} ${person}`,
      plan: made.plan.id,
      status: choice.only === 'rejected' ? 'rejected' : 'not-sent',
      rows: ranges,
    },
  ]);
  return { made, anew: [], ...told };
}

/**
 * Which rows are chosen: none that is held to be not sent where a receipt shows that it was. A person's word, or an export, may be
 * wrong; and a listener may have died before it had joined what it took.
 */
async function leaveOutReceived(
  rows: RowStatusView,
  { plan, choice, received }: { plan: Plan; choice: RetryChoice; received: ReceivedRows },
): Promise<{ isChosen: (step: number, row: number) => boolean; leftOut: number }> {
  const isChosen = createChooser(rows, choice);
  if (!(await received.mayHave(plan.id))) return { isChosen, leftOut: 0 };
  const isRefused = choice.only === 'rejected';
  const sent = new Map<number, Uint8Array>();
  let leftOut = 0;
  for (const { number: step, counts } of plan.steps) {
    const marks = new Uint8Array(counts.planned);
    sent.set(step, marks);
    for (let index = 0; index < counts.planned; index++) {
      if (!isChosen(step, index) || !(await received.has({ run: plan.id, step, index }, { isRefused }))) continue;
      marks[index] = 1;
      leftOut += 1;
    }
  }
  return { isChosen: (step, row) => isChosen(step, row) && sent.get(step)?.[row] !== 1, leftOut };
}

/** Rows of requests without an outcome: only when the run goes on, it is known whether they were processed. */
function countInFlight({ state }: RunRows): number {
  let count = 0;
  for (const { open } of state.steps.values()) {
    for (const { isInFlight, rows } of open.values()) if (isInFlight) count += rows[1];
  }
  return count;
}

async function* listEntries(
  isGivingUp: boolean,
  given: readonly JournalEntry[],
  run: RunRows,
  deps: AppendDeps,
): AsyncGenerator<JournalEntry> {
  if (isGivingUp) {
    for (const planned of run.plan.steps) if (planned.counts.planned > 0) yield* giveUp(planned, run, deps);
  }
  yield* given;
}

/** What waits to be sent again, and what was never begun. */
async function* giveUp(
  planned: PlannedStep,
  { directory, state }: RunRows,
  { files, clock }: AppendDeps,
): AsyncGenerator<JournalEntry> {
  const progress = state.step(planned.number);
  const entriesOf = function* ({ step, request, part, line, rows }: GivenUp): Generator<JournalEntry> {
    const key = { step, request, part, at: clock.now() };
    yield { type: 'intent', ...key, line, rows };
    yield { type: 'outcome', ...key, result: { kind: 'given-up', verdict: GAVE_UP } };
  };
  for (const open of progress.open.values()) if (!open.isInFlight) yield* entriesOf(open);
  const reader = await RequestReader.open(files, directory, planned, progress);
  try {
    for (let next = await reader.next(); next !== undefined; next = await reader.next()) yield* entriesOf(next.open);
  } finally {
    await reader.close();
  }
}

interface GivenUp {
  readonly step: number;
  readonly request: number;
  readonly part: string;
  readonly line: readonly [offset: number, length: number];
  readonly rows: readonly [first: number, count: number];
}
