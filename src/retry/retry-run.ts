import { dirname } from 'node:path';
import { closing } from '../domain/closing.js';
import { quoteWord, UserError } from '../domain/errors.js';
import { isLeftOutCode } from '../domain/row-codes.js';
import type { Job } from '../job/job.js';
import { type JournalEntry, PERSON } from '../journal/entry-format.js';
import { totalOf } from '../plan/format/plan-file.js';
import type { MadePlan } from '../plan/make-plan.js';
import type { PlanDeps } from '../plan/plan-deps.js';
import { appendToRun } from '../registry/append-to-run.js';
import { noteClaims } from '../registry/claims.js';
import { JobRows } from '../registry/job-rows.js';
import { assertListsKept, readHistory } from '../registry/read-runs.js';
import type { OwnedRun } from '../registry/registry.js';
import { type RunRows, readRunRows } from '../report/run-rows.js';
import { assertRestIsFree } from '../run/send/sending-stages.js';
import { endUnsent, listUnsent } from '../run/send/withhold.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';
import { assertLineIsThere, assertNotSentAgain } from './claiming-plan.js';
import { chooseRetried, GAVE_UP, makeAnew, makePlanOf, type RetryChoice, type RowsToRetry } from './retry-plan.js';

export interface RetryEnd {
  /** The plan; undefined where no row was chosen. */
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

/**
 * Makes a plan of rows that were not processed, and claims them for it, for good: their own run does not send them, and no other plan
 * can have them. In this order, each durable before the next, so that a process may die at any moment:
 *
 *   1. the plan gets its name; without 3 nobody may send it
 *   2. the run gives up what it had not reached, where that is chosen; the rest stays its own
 *   3. one file in `claims/` claims all of the rows for the plan
 *   4. the run's journal notes what was claimed, for its outputs; of rows that its plan had left out nothing: to it they were never planned
 *
 * After 1 or 2 the same command makes the same plan again and continues. After 3 it notes what is not noted yet; then there is nothing left
 * to choose, and it makes the plan anew as long as it was never begun: its suppression lists may be others by now.
 * `job`: how the rows are sent; undefined: as they were planned.
 */
export async function retryRun(
  { directory, plan, lock, registry, job }: OwnedRun & { readonly job?: Job | undefined },
  { person, ...choice }: RetryChoice & { person: string },
  deps: Ports & { readonly plan: PlanDeps },
): Promise<RetryEnd> {
  const { files } = deps;
  const { claims } = registry.state;
  const { directories } = registry;
  const history = await readHistory(files, dirname(directory), registry.state);
  const task = `retry rows of run ${plan.id}`;
  await assertListsKept(files, job ?? plan.job, { history, task });
  await using of = closing(new JobRows(files, registry.state, history));
  const run = await noteClaims(await readRunRows(files, { directory, plan }), claims, lock, deps);
  const { rows, state } = run;
  // One whose process died as it began took no files, so that another may have sent them since.
  const isBegun = state.firstOpen !== undefined && (plan.retryOf !== undefined || registry.find(plan.id) !== undefined);
  if (!isBegun) {
    throw new UserError('bad-plan', `Cannot retry rows of ${directory}: its plan was never applied`, {
      hint: registry.state.isAbandoned(plan.id)
        ? 'It was abandoned, and had taken nothing: the next `volley run` plans its files anew.'
        : `Send it, or see why it has nothing to send: \`volley apply ${quoteWord(directory)}\``,
    });
  }
  if (choice.only === 'unprocessed' && !registry.state.isAbandoned(plan.id))
    assertRestIsFree({ directory, plan }, state);
  assertLineIsThere(plan, history, `retry rows of ${directory}`);
  assertNotSentAgain(registry.state, { plan, doing: task });
  const left = { refusedInPlan: totalOf(plan, 'rejected'), inDoubt: rows.countInDoubt(), underWay: countInFlight(run) };
  const request = { directory, plan, lock, directories, rows: of, choice, job };
  const isLeftOut = isLeftOutCode(choice.only);
  const { ranges, ...counts } = await chooseRetried(rows, request, deps);
  const told = { left: { ...left, ...counts }, codes: isLeftOut ? {} : Object.fromEntries(rows.countRejected()) };
  const isGivingUp = choice.only === 'unprocessed';
  if (ranges.length === 0) {
    // Their run cannot send them, and no other plan is to.
    if (isGivingUp && counts.received > 0) await giveUpAll(run, lock, deps);
    return { made: undefined, anew: await makeAnew(request, deps), ...told };
  }
  const made = await makePlanOf(ranges, request, deps);
  const given = isGivingUp ? await giveUpAll(run, lock, deps) : run;
  await registry.claim(made, `${PERSON} ${person}`);
  await noteClaims(given, claims, lock, deps);
  return { made, anew: [], ...told };
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
    for await (const open of unsent) yield* endUnsent(open, { kind: 'given-up', verdict: GAVE_UP }, clock.now());
  }
}
