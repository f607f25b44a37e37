import type { Balance } from '../domain.js';
import type { RunState } from '../journal/replay.js';
import type { PlannedStep } from '../plan/file.js';

/** How the rows of a step stand, from plan and journal alone; rows in flight count as unprocessed. */
export function balanceOf({ number, counts }: PlannedStep, state: RunState): Balance {
  const { accepted, rejected, 'in-doubt': inDoubt } = state.step(number).settledRows;
  return {
    read: counts.read,
    accepted,
    rejected: counts.rejected + rejected,
    skipped: counts.skipped,
    inDoubt,
    unprocessed: counts.planned - accepted - rejected - inDoubt,
  };
}
