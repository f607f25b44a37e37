import { InternalError } from '../domain/errors.js';
import type { RowVerdict, Verdict } from '../domain/row.js';
import { isRowStep } from '../job/job.js';
import type { RowStatusView } from '../journal/row-status/row-status-view.js';
import { formatRowId } from '../kinds/ids.js';
import { kindOf } from '../kinds/kinds.js';
import type { RowOutcome } from '../kinds/step-kind.js';
import { type Plan, type PlannedStep, rowsFile } from '../plan/format/plan-file.js';
import { assertPlanWhole, readRowLines } from '../plan/format/planned-files.js';
import { decodeRowLine } from '../plan/format/row-line.js';
import { AcceptedCost, type StepCostSummary } from '../prices/accepted-cost.js';
import type { Files } from '../storage/files.js';
import { escapeServiceText } from './escape-service-text.js';
import type { OutcomeReader, PlacedOutcome } from './outcome-reader.js';
import { describeRejection, describeRetried, describeSkip, describeVerdict } from './rows.js';
import { StepOutputs, type StepReport } from './step-outputs.js';

/** For results: the service's message about the row. */
const WORDS_COLUMN = '_description';

/** Streams the rows of a step in their order, joins each with its outcome, and writes the step's five outputs whole. */
export async function writeStepReport(
  files: Files,
  source: { plan: Plan; planned: PlannedStep; directory: string; rows: RowStatusView; reader: OutcomeReader },
): Promise<StepReport & { readonly cost: StepCostSummary | undefined }> {
  const { plan, planned, directory, rows } = source;
  const step = plan.job.steps[planned.number - 1];
  if (step === undefined || !isRowStep(step))
    throw new InternalError('unexpected', `Cannot report step ${planned.number}: the plan has no rows for it`);
  const kind = kindOf(step);
  const outputs = await StepOutputs.create(files, source, kind.resultColumns);
  const cursor = new OutcomeCursor(source);
  const path = rowsFile(directory, planned);
  const isRepeatable = kind.isRepeatable(step);
  const wordsAt = kind.resultColumns.indexOf(WORDS_COLUMN);
  const idOf = (row: { isPlanned: boolean; index: number }) =>
    formatRowId({ run: plan.id, step: planned.number, ...row });
  const describePlanned = async (row: { facts: readonly string[]; request: number; index: number }) => {
    const { verdict, outcome } = await cursor.endOf(row.request, row.index, isRepeatable);
    const retriedBy = rows.movedTo(planned.number, row.index);
    if (retriedBy !== undefined) return describeRetried(retriedBy);
    const facts = { planId: plan.id, step: planned.number, index: row.index, facts: row.facts };
    const id = idOf({ isPlanned: true, index: row.index });
    const cells = kind.resultCells(facts, outcome);
    const words = cells[wordsAt];
    const resultCells = words === undefined ? cells : cells.with(wordsAt, escapeServiceText(words));
    return describeVerdict(verdict, { resultCells, id });
  };
  const cost = planned.cost && new AcceptedCost(planned.cost);
  let plannedRows = 0;
  let rejectedRows = 0;
  try {
    for await (const bytes of readRowLines(files, directory, planned)) {
      const row = decodeRowLine(bytes.toString('utf8'), path);
      if (row.state === 'rejected') {
        // A row of another run stays with that run: it was not sent here either. There `where` had left it out: it was never looked at.
        const from = plan.retryOf?.only === 'filtered' ? undefined : row.from;
        outputs.add(row, describeRejection(row.rejection, from ?? idOf({ isPlanned: false, index: rejectedRows })));
        rejectedRows += 1;
      } else if (row.state === 'skipped') outputs.add(row, describeSkip(row.skip));
      else {
        const described = await describePlanned({ facts: row.facts, request: row.request, index: plannedRows });
        outputs.add(row, described);
        if (described.output === 'results') cost?.add(row.costGroup);
        plannedRows += 1;
      }
      if (outputs.isFull) await outputs.flush();
    }
    return { ...(await outputs.finish()), cost: cost?.figures() };
  } catch (error) {
    await outputs.discard();
    // A mismatch is not a bug if the rows file differs from the plan.
    await assertPlanWhole(files, directory, { steps: [planned] });
    throw error;
  }
}

/** Walks the outcomes beside the rows, all of them: the rows of a request stand together, in its order. */
class OutcomeCursor {
  readonly #rows: RowStatusView;
  readonly #reader: OutcomeReader;
  readonly #step: number;
  #request = 0;
  #outcomes: PlacedOutcome[] = [];

  constructor({ rows, reader, planned }: { rows: RowStatusView; reader: OutcomeReader; planned: PlannedStep }) {
    this.#rows = rows;
    this.#reader = reader;
    this.#step = planned.number;
  }

  async endOf(request: number, row: number, isRepeatable: boolean): Promise<ReportedEnd> {
    if (request !== this.#request) {
      this.#request = request;
      this.#outcomes = await this.#reader.outcomesOf(this.#step, request, row);
    }
    const isSettled = this.#rows.placesOf(this.#step)?.isSettled(row) === true;
    const settled = isSettled ? await this.#reader.settledRow(this.#step, row) : undefined;
    if (settled?.verdict.status === 'not-sent') return { verdict: settled.verdict, outcome: undefined };
    for (const { first, outcomes } of this.#outcomes) {
      const given = outcomes.rows[row - first];
      if (given === undefined) continue;
      const [index, ...ids] = given;
      const verdict = settled?.verdict ?? outcomes.verdicts[index];
      if (verdict === undefined) continue;
      return { verdict, outcome: { verdict, ids: settled?.ids ?? ids, shared: outcomes.shared } };
    }
    return { verdict: this.#openVerdict(row, isRepeatable), outcome: undefined };
  }

  /** For a row without an outcome: sent by a process that died, or under way now? */
  #openVerdict(row: number, isRepeatable: boolean): Verdict | undefined {
    if (isRepeatable || !this.#rows.isUnderWay(this.#step, row)) return undefined;
    return { status: 'in-doubt', code: 'run-ended', reason: 'Sent, and the run has no answer to it yet' };
  }
}

/** Undefined: unprocessed; an outcome without an answer: nothing was answered. */
interface ReportedEnd {
  readonly verdict: RowVerdict | undefined;
  readonly outcome: RowOutcome | undefined;
}
