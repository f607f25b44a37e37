import { countOf } from '../domain/count-of.js';
import { quoteWord, UserError } from '../domain/errors.js';
import type { RowVerdict } from '../domain/row.js';
import { formatTime } from '../domain/stated-time.js';
import { PERSON, type SettleEntry } from '../journal/entry-format.js';
import type { RunState } from '../journal/replay.js';
import type { RowStatusView } from '../journal/row-status-view.js';
import { listHeld } from '../kinds/schedule.js';
import { appendToRun, endInFlight } from '../registry/append-to-run.js';
import type { OwnedRun } from '../registry/registry.js';
import { countUnderWay, type RunRows, readRunRows } from '../report/run-rows.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';

/** Proof that a row in doubt was processed, or was not; or that what is known of it contradicts itself, so that it stays in doubt. */
export interface Proof {
  readonly verdict: RowVerdict;
  /** Ids that the service gave the row. */
  readonly ids: readonly string[];
}

/** A run as read under the job's lock, so that no other process writes to it. */
export interface LockedRun extends RunRows {
  readonly lock: Lock;
}

interface SettleOptions {
  /** The source of the proofs, for the journal. */
  readonly by: string;
  /** Finds what became of a row; undefined: unresolved, it remains in doubt. */
  readonly findProof: (row: { readonly step: number; readonly row: number }) => Promise<Proof | undefined>;
}

export type SettledCounts = Readonly<Record<'accepted' | 'rejected' | 'notSent', number>>;

export const NONE_SETTLED: SettledCounts = { accepted: 0, rejected: 0, notSent: 0 };

const ROWS_A_LINE = 1000;

/**
 * Gives each row in doubt with a proof its verdict, durably and once: rows with any other verdict are never touched,
 * and settled rows are not looked up again. The journal of a finished run keeps its final state. The caller writes the
 * outputs again; until then the run has none, and the next `run` of the job writes them.
 */
export async function settleRows(run: LockedRun, options: SettleOptions, deps: Ports): Promise<SettledCounts> {
  const entries = await buildEntries(options, run.rows, deps.clock.now());
  if (entries.length === 0) return NONE_SETTLED;
  await appendToRun(run, { entries, lock: run.lock }, deps);
  return countVerdicts(entries);
}

async function buildEntries({ by, findProof }: SettleOptions, rows: RowStatusView, at: number): Promise<SettleEntry[]> {
  const entries: SettleEntry[] = [];
  let line: { step: number; verdicts: RowVerdict[]; rows: [number, number, ...string[]][] } | undefined;
  for (const { step, row } of rows.listInDoubt()) {
    const proof = await findProof({ step, row });
    if (proof === undefined) continue;
    if (line === undefined || line.step !== step || line.rows.length >= ROWS_A_LINE) {
      line = { step, verdicts: [], rows: [] };
      entries.push({ type: 'settle', at, by, ...line });
    }
    line.rows.push([row, indexOf(proof.verdict, line.verdicts), ...proof.ids]);
  }
  return entries;
}

function indexOf(verdict: RowVerdict, verdicts: RowVerdict[]): number {
  const { status, code, reason } = verdict;
  const known = verdicts.findIndex((each) => each.status === status && each.code === code && each.reason === reason);
  return known === -1 ? verdicts.push(verdict) - 1 : known;
}

function countVerdicts(entries: readonly SettleEntry[]): SettledCounts {
  const counts = { accepted: 0, rejected: 0, 'in-doubt': 0, 'not-sent': 0 };
  for (const { verdicts, rows } of entries) {
    for (const [, index] of rows) counts[verdicts[index]?.status ?? 'in-doubt'] += 1;
  }
  return { accepted: counts.accepted, rejected: counts.rejected, notSent: counts['not-sent'] };
}

export interface OperatorDecision {
  readonly assume: 'sent' | 'not-sent';
  /** How many rows the operator believes to be in doubt. */
  readonly confirm: number;
  /** Number of the step whose rows alone are decided on; those of all steps where not given. */
  readonly step?: number | undefined;
  /** Who decides, such as `ann on desk-7`. */
  readonly person: string;
}

/**
 * Settles every row in doubt, of all steps or of one, by an operator decision, journaled with name and time. Refuses when the number of rows in
 * doubt differs; while requests in flight at the end of a process have no outcome: they have not been reported yet; and
 * while messages among them may wait at the service for their time: nobody can know yet whether it sends them.
 */
export async function settleByDecision(
  run: LockedRun,
  decision: OperatorDecision,
  deps: Ports,
): Promise<SettledCounts> {
  const { plan, rows, state } = run;
  const { rows: underWay } = countUnderWay(state, plan);
  const most = plan.steps.length;
  if ((decision.step ?? 1) > most)
    throw new UserError(
      'bad-flag',
      `Cannot settle run ${plan.id}: --step is ${decision.step}, expected a step from 1 to ${most}`,
    );
  const isMeant = ({ step }: { readonly step: number }) => decision.step === undefined || step === decision.step;
  const doubts = [...rows.listInDoubt()].filter(isMeant);
  if (underWay > 0) {
    throw new UserError(
      'bad-plan',
      `Cannot settle run ${plan.id}: it ended with ${countOf(underWay, 'row')} under way`,
      { hint: 'Finish the run first: the same command that began it; then review what is in doubt.' },
    );
  }
  if (doubts.length !== decision.confirm) {
    const ofStep = decision.step === undefined ? '' : ` in step ${decision.step}`;
    throw new UserError(
      'bad-flag',
      `Cannot settle run ${plan.id}: --confirm says ${decision.confirm}, expected ${doubts.length}, the number of its rows in doubt${ofStep}`,
      { hint: 'Review the in-doubt files of the run again; nothing was settled.' },
    );
  }
  const nowMs = deps.clock.now();
  const inDoubt = new Set(doubts.map(({ step }) => step));
  const waiting = listHeld(plan.job, nowMs).findLast(({ number }) => inDoubt.has(number));
  if (waiting !== undefined) {
    throw new UserError(
      'bad-plan',
      `Cannot settle run ${plan.id}: messages in doubt may wait at the service until ${formatTime(waiting.at)}, expected a decision after that time`,
      { hint: 'Decide once it has passed, with the message export of the service at hand. Nothing was settled.' },
    );
  }
  const proof = proofOf(decision, new Date(nowMs).toISOString());
  const by = `${PERSON} ${decision.person}`;
  return settleRows(run, { by, findProof: async (row) => (isMeant(row) ? proof : undefined) }, deps);
}

function proofOf({ assume, person }: OperatorDecision, at: string): Proof {
  const reason = `${person} said at ${at} that it was ${assume === 'sent' ? 'sent' : 'not sent'}`;
  const verdict: RowVerdict =
    assume === 'sent'
      ? { status: 'accepted', code: 'ASSUMED', reason }
      : { status: 'not-sent', code: 'assumed-not-sent', reason };
  return { verdict, ids: [] };
}

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
  const read = await readRunRows(deps.files, run);
  const { state } = read;
  if (state.lastClose?.reason === 'abandoned' || !holdsRows(run)) return;
  const at = deps.clock.now();
  const entries = plan.steps.flatMap(({ number }) => endInFlight(plan, state, { number, at, mayQuery: false }).entries);
  const close = { type: 'close', at, reason: 'abandoned', detail: `by ${abandoned.by}` } as const;
  await appendToRun(read, { entries, lock, close }, deps);
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
