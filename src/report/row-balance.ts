import type { Balance } from '../domain/row.js';
import type { RunState, StepProgress } from '../journal/replay.js';
import type { PlannedStep } from '../plan/format/plan-file.js';

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

/** Rows that another plan has claimed; they count as skipped. */
export function countRetried({ retriedRows }: StepProgress): number {
  return retriedRows.rejected + retriedRows['not-sent'];
}
