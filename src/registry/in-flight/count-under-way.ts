import { isRowStep } from '../../job/job.js';
import type { RunState } from '../../journal/replay.js';
import { kindOf } from '../../kinds/kinds.js';
import type { Plan } from '../../plan/format/plan-file.js';

/** Rows of requests without an outcome that may have been processed: the next runner puts them in doubt, or asks. */
export function countUnderWay({ steps }: RunState, { job }: Plan): number {
  let count = 0;
  for (const [number, { open }] of steps) {
    const step = job.steps[number - 1];
    if (step === undefined || !isRowStep(step) || kindOf(step).isRepeatable(step)) continue;
    for (const { isInFlight, rows } of open.values()) if (isInFlight) count += rows[1];
  }
  return count;
}
