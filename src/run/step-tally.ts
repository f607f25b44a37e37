import { countOf } from '../domain/count-of.js';
import type { RowOutcomes } from '../domain/row.js';
import type { RowCounts } from '../journal/entry-format.js';
import { GUARD_FROM_ROWS } from './send/caution.js';
import type { SendContext } from './send/send-context.js';
import type { StepNotices } from './step-notices.js';

type TalliedStep = Pick<SendContext, 'deps' | 'stop' | 'planned' | 'progress' | 'maxFailedPercent'>;

/** What became of the rows of a step so far: reports it, and stops a run that mostly fails. */
export class StepTally {
  readonly #context: TalliedStep;
  readonly #notices: StepNotices;
  readonly #settled: RowCounts;
  /** Outcomes before this process: a person who resumes a guarded run has reviewed those. */
  readonly #before: Readonly<RowCounts>;

  constructor(context: TalliedStep, notices: StepNotices) {
    this.#context = context;
    this.#notices = notices;
    this.#before = { ...context.progress.settledRows };
    this.#settled = { ...this.#before };
  }

  add({ rows, verdicts }: Pick<RowOutcomes, 'rows' | 'verdicts'>): void {
    for (const [index] of rows) {
      const status = verdicts[index]?.status;
      if (status !== undefined) this.#settled[status] += 1;
    }
  }

  /** So many rows were withheld. */
  addNotSent(count: number): void {
    this.#settled['not-sent'] += count;
  }

  report(): void {
    const { deps, planned } = this.#context;
    const { accepted, rejected, 'in-doubt': inDoubt, 'not-sent': notSent } = this.#settled;
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
    const { maxFailedPercent, stop } = this.#context;
    const accepted = this.#settled.accepted - this.#before.accepted;
    const rejected = this.#settled.rejected - this.#before.rejected;
    const answered = accepted + rejected;
    if (answered < GUARD_FROM_ROWS || (rejected * 100) / answered <= maxFailedPercent) return;
    const why = `the service refused ${rejected} of ${countOf(answered, 'row')}, more than maxFailedPercent ${maxFailedPercent}`;
    stop.request('guard', why);
    this.#notices.noteGuard(why);
  }
}
