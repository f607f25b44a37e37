import type { RunState } from '../journal/replay.js';
import type { PlannedStep } from '../plan/format/plan-file.js';

/** Whether rows of the step are not settled. */
export function hasWork(planned: PlannedStep, state: RunState): boolean {
  const progress = state.step(planned.number);
  return progress.open.size > 0 || progress.nextRequest <= planned.counts.requests;
}
