import { isRowStep } from '../../job/job.js';
import type { ActedEntry, OutcomeEntry, PartResult } from '../../journal/entry-format.js';
import type { RunState } from '../../journal/replay.js';
import { kindOf } from '../../kinds/kinds.js';
import { inDoubt, sameVerdictForAll } from '../../kinds/outcomes.js';
import type { Plan } from '../../plan/format/plan-file.js';

export const RUN_ENDED = inDoubt(
  'run-ended',
  'The run ended before the answer came: it may or may not have been processed',
);

/** What was under way in one step when a process died, each with how it ends. */
export interface EndedStep {
  readonly entries: readonly (OutcomeEntry | ActedEntry)[];
  /** Rows that are in doubt by it; undefined for a step without rows. */
  readonly inDoubt: number | undefined;
}

/**
 * A request between intent and outcome when its process dies may or may not have been processed: its rows are in doubt, or sent again
 * where that is safe. `mayQuery`: what the service can be asked about stays open, for the turn of its step.
 */
export function endInFlight(
  { job }: Pick<Plan, 'job'>,
  state: RunState,
  { number, at, mayQuery }: { number: number; at: number; mayQuery: boolean },
): EndedStep {
  const step = job.steps[number - 1];
  const progress = state.step(number);
  if (step === undefined || !isRowStep(step)) {
    const isOpen = step !== undefined && progress.action?.isOpen === true;
    return { entries: isOpen ? [{ type: 'acted', step: number, at, verdict: RUN_ENDED }] : [], inDoubt: undefined };
  }
  const kind = kindOf(step);
  if (mayQuery && kind.outcomeQuery !== undefined) return { entries: [], inDoubt: 0 };
  const isRepeatable = kind.isRepeatable(step);
  const open = [...progress.open.values()].filter(({ isInFlight }) => isInFlight);
  const entries = open.map(({ step, request, part, rows }): OutcomeEntry => {
    const result: PartResult = isRepeatable
      ? { kind: 'again', why: 'the run ended before the answer came' }
      : { kind: 'settled', outcomes: sameVerdictForAll(rows[1], RUN_ENDED) };
    return { type: 'outcome', step, request, part, at, result };
  });
  return { entries, inDoubt: isRepeatable ? 0 : open.reduce((sum, { rows }) => sum + rows[1], 0) };
}
