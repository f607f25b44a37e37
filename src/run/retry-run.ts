import { dirname } from 'node:path';
import { UserError } from '../errors.js';
import type { JournalEntry } from '../journal/format.js';
import type { Plan, PlannedStep, RowLine } from '../plan/file.js';
import { checkGuards } from '../plan/guards.js';
import { makeRetryPlan } from '../plan/make-retry-plan.js';
import type { PlanDeps } from '../plan/ports.js';
import { type AppendDeps, appendToRun } from './append-to-run.js';
import { InDoubtRows } from './in-doubt-rows.js';
import type { Lock } from './lock.js';
import { readPlannedRows } from './planned-rows.js';
import { RequestReader } from './request-reader.js';
import { GAVE_UP, type RetryChoice, RetryRows } from './retry-rows.js';
import { PERSON } from './sent-record.js';

export interface RetryEnd {
  /** Undefined where no row was chosen. */
  readonly made: { readonly plan: Plan; readonly directory: string } | undefined;
  /** Rows that are not in it, by why. */
  readonly left: {
    readonly refusedInPlan: number;
    readonly inDoubt: number;
    readonly underWay: number;
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
 * The same command after 1 or 2 makes the same plan again and goes on; after 3 there is nothing left to choose.
 */
export async function retryRun(
  { directory, plan, lock }: { directory: string; plan: Plan; lock: Lock },
  { person, ...choice }: RetryChoice & { person: string },
  deps: AppendDeps & { readonly plan: PlanDeps },
): Promise<RetryEnd> {
  const { files } = deps;
  const { rows, end } = await RetryRows.read(files, directory, plan);
  if (rows.state.firstOpen === undefined) {
    throw new UserError('bad-plan', `Cannot retry rows of ${directory}: its plan was never applied`, {
      hint: 'Send it with `volley apply`.',
    });
  }
  const { rows: inDoubt } = await InDoubtRows.read(files, directory, plan);
  const told = {
    left: {
      refusedInPlan: plan.steps.reduce((sum, { counts }) => sum + counts.rejected, 0),
      inDoubt: inDoubt.count,
      underWay: inDoubt.underWay,
      retriedBefore: rows.retried,
    },
    codes: Object.fromEntries(rows.codes),
  };
  const ranges = rows.choose(choice);
  if (ranges.length === 0) return { made: undefined, ...told };
  const isChosen = rows.isChosen(choice);
  const made = await makeRetryPlan(
    {
      plan,
      identity: JSON.stringify(ranges),
      rowsOf: (planned) => readChosen(planned, { files, directory, isChosen }),
    },
    deps.plan,
    {
      jobDirectory: dirname(directory),
      retryOf: { run: plan.id, only: choice.only, codes: [...choice.codes] },
      assertHeld: () => lock.assertHeld(),
    },
  );
  checkGuards(made.plan, made.plan.job.guards);
  const given: JournalEntry = {
    type: 'retry',
    at: deps.clock.now(),
    by: `${PERSON} ${person}`,
    plan: made.plan.id,
    status: choice.only === 'rejected' ? 'rejected' : 'not-sent',
    rows: ranges,
  };
  const entries = listEntries(choice.only === 'unprocessed', given, { directory, plan, rows }, deps);
  await appendToRun({ directory, plan, state: rows.state, end }, { entries, lock }, deps);
  return { made, ...told };
}

async function* readChosen(
  planned: PlannedStep,
  source: {
    files: AppendDeps['files'];
    directory: string;
    isChosen: (step: number, row: number) => boolean;
  },
): AsyncGenerator<RowLine> {
  for await (const { index, row } of readPlannedRows(source.files, source.directory, planned)) {
    if (source.isChosen(planned.number, index)) yield row;
  }
}

async function* listEntries(
  isGivingUp: boolean,
  given: JournalEntry,
  run: { directory: string; plan: Plan; rows: RetryRows },
  deps: AppendDeps,
): AsyncGenerator<JournalEntry> {
  if (isGivingUp) {
    for (const planned of run.plan.steps) if (planned.counts.planned > 0) yield* giveUp(planned, run, deps);
  }
  yield given;
}

/** What waits to be sent again, and what was never begun. */
async function* giveUp(
  planned: PlannedStep,
  { directory, rows }: { directory: string; rows: RetryRows },
  { files, clock }: AppendDeps,
): AsyncGenerator<JournalEntry> {
  const progress = rows.state.step(planned.number);
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
