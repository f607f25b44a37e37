import { dirname } from 'node:path';
import { UserError } from '../domain/errors.js';
import { isLeftOutCode } from '../domain/row-codes.js';
import type { Job } from '../job/job.js';
import { type JournalEntry, PERSON, type RowRange } from '../journal/entry-format.js';
import { addRow } from '../journal/row-status/row-ranges.js';
import type { RowStatusView } from '../journal/row-status/row-status-view.js';
import type { PlanDeps } from '../plan/plan-deps.js';
import type { MadePlan } from '../plan/write-new-plan.js';
import { appendToRun } from '../registry/append-to-run.js';
import { noteClaims } from '../registry/claim-rows.js';
import { readHistory } from '../registry/read-runs.js';
import { ReceivedRows } from '../registry/received-rows.js';
import type { OwnedRun } from '../registry/registry.js';
import { type RunRows, readRunRows } from '../report/read-run-rows.js';
import { countRetried } from '../report/row-balance.js';
import { giveUp, listUnsent } from '../run/give-up.js';
import { assertRestIsFree } from '../run/waiting-stage.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';
import { assertLineIsThere, assertNotSentAgain } from './claiming-plan.js';
import {
  chooseLeftOut,
  createChooser,
  GAVE_UP,
  makeAnew,
  makePlanOf,
  type RetryChoice,
  type RetryRequest,
  type RowsToRetry,
} from './retry-plan.js';

export interface RetryEnd {
  /** Undefined where no row was chosen. */
  readonly made: MadePlan | undefined;
  /** Where no row was chosen: plans that the same choice made before, and that nobody has begun to send; made of the same rows. */
  readonly anew: readonly MadePlan[];
  /** Rows that are not in it, by why. */
  readonly left: Pick<RowsToRetry, 'received' | 'retriedBefore' | 'filtered'> & {
    readonly refusedInPlan: number;
    readonly inDoubt: number;
    readonly underWay: number;
  };
  /** Rejected rows that the run still has, by code. */
  readonly codes: Readonly<Record<string, number>>;
}

/** A run whose rows are chosen; `job`: how they are sent, undefined as they were planned. */
type RetriedRun = OwnedRun & { readonly job?: Job | undefined };

/**
 * Makes a plan of rows that were not processed, and claims them for it, for good: their own run does not send them, and no other plan
 * can have them. In this order, each durable before the next, so that a process may die at any moment:
 *
 *   1. the plan gets its name; without 3 nobody may send it
 *   2. the run gives up what it had not reached, where that is chosen; the rest stays its own
 *   3. one file in `claims/` claims all of the rows for the plan
 *   4. the run's journal notes what was claimed, for its outputs; of rows that its plan had left out nothing: to it they were never planned
 *
 * The same command after 1 or 2 makes the same plan again and continues. After 3 it notes what is not noted yet; then there is nothing left
 * to choose, and it makes the plan anew as long as it was never begun: its suppression lists may be others by now.
 */
export async function retryRun(
  run: RetriedRun,
  choice: RetryChoice & { person: string },
  deps: Ports & { readonly plan: PlanDeps },
): Promise<RetryEnd> {
  const received = new ReceivedRows(deps.files, run.registry.directories);
  try {
    return await retryRows({ ...run, received }, choice, deps);
  } finally {
    await received.close();
  }
}

async function retryRows(
  { directory, plan, lock, registry, received, job }: RetriedRun & { received: ReceivedRows },
  { person, ...choice }: RetryChoice & { person: string },
  deps: Ports & { readonly plan: PlanDeps },
): Promise<RetryEnd> {
  const { files } = deps;
  const { claims } = registry.state;
  const { directories } = registry;
  const run = await noteClaims(await readRunRows(files, { directory, plan }), claims, lock, deps);
  const { rows, state } = run;
  // One whose process died as it began took no files, so that another may have sent them since.
  const isBegun = state.firstOpen !== undefined && (plan.retryOf !== undefined || registry.find(plan.id) !== undefined);
  if (!isBegun) {
    throw new UserError('bad-plan', `Cannot retry rows of ${directory}: its plan was never applied`, {
      hint: registry.state.isAbandoned(plan.id)
        ? 'It was abandoned, and had taken nothing: the next `volley run` plans its files anew.'
        : 'Send it with `volley apply`.',
    });
  }
  if (choice.only === 'unprocessed' && !registry.state.isAbandoned(plan.id))
    assertRestIsFree({ directory, plan }, state);
  const history = await readHistory(files, dirname(directory), registry.state);
  assertLineIsThere(plan, history, `retry rows of ${directory}`);
  if (choice.only === 'not-sent' && state.takenBackAt !== undefined)
    assertNotSentAgain(registry.state, { plan, sinceMs: state.takenBackAt, doing: `retry rows of run ${plan.id}` });
  const left = {
    refusedInPlan: plan.steps.reduce((sum, { counts }) => sum + counts.rejected, 0),
    inDoubt: rows.countInDoubt(),
    underWay: countInFlight(run),
  };
  const request = { directory, plan, lock, directories, registry: registry.state, history, choice, received, job };
  const isLeftOut = isLeftOutCode(choice.only);
  const { ranges, ...counts } = isLeftOut ? await chooseLeftOut(request, deps) : await choosePlanned(rows, request);
  const told = { left: { ...left, ...counts }, codes: isLeftOut ? {} : Object.fromEntries(rows.countRejected()) };
  const isGivingUp = choice.only === 'unprocessed';
  if (ranges.length === 0) {
    // Their run cannot send them, and no other plan is to.
    if (isGivingUp && counts.received > 0) await giveUpAll(run, lock, deps);
    return { made: undefined, anew: await makeAnew(request, deps), ...told };
  }
  const made = await makePlanOf(ranges, request, deps);
  const given = isGivingUp ? await giveUpAll(run, lock, deps) : run;
  await registry.claimRetried(made.plan, { source: plan, ranges, by: `${PERSON} ${person}` });
  await noteClaims(given, claims, lock, deps);
  return { made, anew: [], ...told };
}

/**
 * Of the rows that a run had planned: none that is held to be not sent where a receipt shows that it was. A person's word, or an export, may be
 * wrong; and a listener may have died before it had joined what it took.
 */
async function choosePlanned(rows: RowStatusView, { plan, choice, received }: RetryRequest): Promise<RowsToRetry> {
  const isWanted = createChooser(rows, choice);
  const mayBeSent = await received.mayHave(plan.id);
  const ranges: RowRange[] = [];
  let sent = 0;
  for (const { number: step, counts } of plan.steps) {
    for (let index = 0; index < counts.planned; index++) {
      if (!isWanted(step, index)) continue;
      if (mayBeSent && (await received.has({ run: plan.id, step, index }))) sent += 1;
      else addRow(ranges, step, index);
    }
  }
  const retriedBefore = plan.steps.reduce((sum, { number }) => sum + countRetried(rows.state.step(number)), 0);
  return { ranges, received: sent, retriedBefore, filtered: 0 };
}

/** Rows of requests without an outcome: only when the run goes on, it is known whether they were processed. */
function countInFlight({ state }: RunRows): number {
  let count = 0;
  for (const { open } of state.steps.values()) {
    for (const { isInFlight, rows } of open.values()) if (isInFlight) count += rows[1];
  }
  return count;
}

/** Gives the run as it stands then. */
async function giveUpAll(run: RunRows, lock: Lock, deps: Ports): Promise<RunRows> {
  await appendToRun(run, { entries: listGivenUp(run, deps), lock }, deps);
  return readRunRows(deps.files, run);
}

/** What waits to be sent again, and what was never begun. */
async function* listGivenUp(
  { plan, directory, state }: RunRows,
  { files, clock }: Ports,
): AsyncGenerator<JournalEntry> {
  for (const planned of plan.steps) {
    if (planned.counts.planned === 0) continue;
    const unsent = listUnsent(planned, state.step(planned.number), { directory, files });
    for await (const open of unsent) yield* giveUp(open, GAVE_UP, clock.now());
  }
}
