import { join } from 'node:path';
import { sumOf } from '../domain/count-of.js';
import type { Balance } from '../domain/row.js';
import { isRowStep, type Step } from '../job/job.js';
import { type JournalEnd, readJournal } from '../journal/reader.js';
import type { RunState, StepProgress } from '../journal/replay.js';
import { RowStatusView } from '../journal/row-status-view.js';
import { kindOf } from '../kinds/kinds.js';
import { JOURNAL_FILE, type Plan, type PlanAt, type PlannedStep } from '../plan/format/plan-file.js';
import type { Files } from '../storage/files.js';
import { addBalances } from './summary.js';

/** A run as read from its journal. Valid under the job's lock, until something is appended. */
export interface RunRows extends PlanAt {
  readonly rows: RowStatusView;
  readonly state: RunState;
  readonly end: JournalEnd;
}

/** Reads the journal of a run: once per command, which passes the result on. */
export async function readRunRows(files: Files, { directory, plan }: PlanAt): Promise<RunRows> {
  const rows = new RowStatusView(plan.steps);
  const end = await readJournal(files, join(directory, JOURNAL_FILE), (line) => rows.apply(line));
  return { directory, plan, rows, state: rows.state, end };
}

/** The balance of a step's rows, from plan and journal alone; rows in flight count as unprocessed, and so do those not sent. */
export function balanceOf({ number, counts }: PlannedStep, state: RunState): Balance {
  const progress = state.step(number);
  const { accepted, rejected, 'in-doubt': inDoubt } = progress.settledRows;
  const { retriedRows } = progress;
  return {
    read: counts.read,
    accepted,
    rejected: counts.rejected + rejected - retriedRows.rejected,
    skipped: counts.skipped + countRetried(progress),
    inDoubt,
    unprocessed: counts.planned - accepted - rejected - inDoubt - retriedRows['not-sent'],
  };
}

/**
 * The balance of a step of a run that no process works on, as its outputs have it: rows in flight that may have been processed are in
 * doubt. The next runner puts them there, or finds out what came of them.
 */
export function balanceAtRest(planned: PlannedStep, state: RunState, { steps }: Plan['job']): Balance {
  const balance = balanceOf(planned, state);
  const { rows } = underWayOf(state.step(planned.number), steps[planned.number - 1]);
  return { ...balance, inDoubt: balance.inDoubt + rows, unprocessed: balance.unprocessed - rows };
}

/** The balance of all steps of a run. `isRunning`: a process works on it, and what is in flight is not in doubt yet. */
export function balanceOfRun({ steps, job }: Plan, state: RunState, isRunning: boolean): Balance {
  return addBalances(steps.map((step) => (isRunning ? balanceOf(step, state) : balanceAtRest(step, state, job))));
}

/** Rows of requests without an outcome that may have been processed. */
interface UnderWay {
  readonly rows: number;
  /** How many of them were handed over to a database: the same command finds out what came of them. */
  readonly withWorkers: number;
}

export function countUnderWay({ steps }: RunState, { job }: Plan): UnderWay {
  const counts = [...steps].map(([number, progress]) => underWayOf(progress, job.steps[number - 1]));
  return { rows: sumOf(counts.map(({ rows }) => rows)), withWorkers: sumOf(counts.map((each) => each.withWorkers)) };
}

export function underWayOf({ open }: StepProgress, step: Step | undefined): UnderWay {
  if (step === undefined || !isRowStep(step) || kindOf(step).isRepeatable(step)) return { rows: 0, withWorkers: 0 };
  const inFlight = [...open.values()].filter(({ isInFlight }) => isInFlight);
  const sum = (parts: typeof inFlight) => sumOf(parts.map(({ rows }) => rows[1]));
  return { rows: sum(inFlight), withWorkers: sum(inFlight.filter(({ lead }) => lead !== undefined)) };
}

/** Rows that another plan has claimed; they count as skipped. */
export function countRetried({ retriedRows }: StepProgress): number {
  return retriedRows.rejected + retriedRows['not-sent'];
}
