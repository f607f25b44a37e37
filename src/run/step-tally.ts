import { countOf } from '../domain/count-of.js';
import type { RowCounts } from '../journal/entry-format.js';
import { GUARD_FROM_ROWS } from './send/caution.js';
import type { SendContext } from './send/send-context.js';
import type { StepNotices } from './step-notices.js';

type TalliedStep = Pick<SendContext, 'deps' | 'stop' | 'planned' | 'progress' | 'maxFailedPercent'>;

/** What became of the rows of a step so far, as its journal has it: reports it, and stops a run that mostly fails. */
export class StepTally {
  readonly #context: TalliedStep;
  readonly #notices: StepNotices;
  /** Outcomes before this process: a person who resumes a guarded run has reviewed those. */
  readonly #before: Readonly<RowCounts>;

  constructor(context: TalliedStep, notices: StepNotices) {
    this.#context = context;
    this.#notices = notices;
    this.#before = { ...context.progress.settledRows };
  }

  report(): void {
    const { deps, planned, progress } = this.#context;
    const { accepted, rejected, 'in-doubt': inDoubt, 'not-sent': notSent } = progress.settledRows;
    deps.onProgress({
      step: planned.number,
      kind: planned.kind,
      rows: planned.counts.planned,
      settled: accepted + rejected + inDoubt + notSent,
      accepted,
      rejected,
      inDoubt,
    });
  }

  /** Where most rows are refused the job is wrong, not the rows. */
  guard(): void {
    const { maxFailedPercent, stop, progress } = this.#context;
    const accepted = progress.settledRows.accepted - this.#before.accepted;
    const rejected = progress.settledRows.rejected - this.#before.rejected;
    const answered = accepted + rejected;
    if (answered < GUARD_FROM_ROWS || (rejected * 100) / answered <= maxFailedPercent) return;
    const why = `the service refused ${rejected} of ${countOf(answered, 'row')}, more than maxFailedPercent ${maxFailedPercent}`;
    stop.request('guard', why);
    this.#notices.noteGuard(why);
  }
}
