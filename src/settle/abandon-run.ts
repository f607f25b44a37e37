import { quoteWord, UserError } from '../domain/errors.js';
import type { RunState } from '../journal/replay.js';
import type { Act } from '../plan/format/run-record.js';
import { appendToRun, endInFlight } from '../registry/append-to-run.js';
import type { OwnedRun } from '../registry/registry.js';
import { readRunRows } from '../report/run-rows.js';
import type { Ports } from '../storage/lock-file.js';

/**
 * Lets a plan go for good, begun or not, in this order, each durable before the next, so that a process may die at any moment:
 *
 *   1. the memory has it as abandoned: nobody applies it from now on
 *   2. so has its own directory, for a memory that is lost
 *   3. its journal ends with a close; what was under way is in doubt, or unprocessed where it may be sent again
 *
 * Called again, it continues from where it was. What the run took and claimed stays its own: `volley retry` gives what it did not send to
 * another plan. One that was never begun, and retries nothing, took nothing: its files are planned anew, with the rows that they re-import.
 * The caller has asked `assertUnfinished`, and writes the outputs.
 */
export async function abandonRun(run: OwnedRun, by: string, deps: Ports): Promise<void> {
  const { plan, lock, registry } = run;
  const { abandoned = { at: deps.clock.now(), by } } = registry.state.recordOf(plan.id);
  await registry.note(plan.id, { abandoned });
  await lock.assertHeld();
  await closeJournal(run, abandoned, deps);
}

/** Whether a plan has something that no other can have: it was begun, or retries rows that it claimed. */
export function holdsRows({ plan, registry }: Pick<OwnedRun, 'plan' | 'registry'>): boolean {
  const isBegun = registry.find(plan.id) !== undefined;
  return isBegun || (plan.retryOf !== undefined && registry.state.claims.hasAll(plan));
}

/** The state of a run that is to be let go. Refuses one that has nothing left to send, and a test, which no command resumes. */
export async function assertUnfinished({ directory, plan }: OwnedRun, { files }: Ports): Promise<RunState> {
  if (plan.testOf !== undefined) {
    throw new UserError('bad-plan', `Cannot abandon ${directory}: it is a test, expected a plan or a run`, {
      hint: 'It takes nothing of the job, and the job does not wait for it. One that was cut short is resumed by the same `volley test`.',
    });
  }
  const { state } = await readRunRows(files, { directory, plan });
  if (!state.isFinished) return state;
  throw new UserError('bad-plan', `Cannot abandon run ${plan.id}: it is finished, so nothing of it is left to send`, {
    hint: `To take back messages that wait at the service for their time: \`volley cancel ${quoteWord(directory)}\``,
  });
}

async function closeJournal(run: OwnedRun, { by }: Act, deps: Ports): Promise<void> {
  const { directory, plan, lock } = run;
  const read = await readRunRows(deps.files, { directory, plan });
  const { state } = read;
  if (state.lastClose?.reason === 'abandoned' || !holdsRows(run)) return;
  const at = deps.clock.now();
  const entries = plan.steps.flatMap(({ number }) => endInFlight(plan, state, { number, at, mayQuery: false }).entries);
  const close = { type: 'close', at, reason: 'abandoned', detail: `by ${by}` } as const;
  await appendToRun(read, { entries, lock, close }, deps);
}
