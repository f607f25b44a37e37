import { InternalError } from '../domain/errors.js';
import type { RowVerdict, Verdict } from '../domain/row.js';
import { isLeftOutCode } from '../domain/row-codes.js';
import { isRowStep, type RowStep } from '../job/job.js';
import type { RowStatusView } from '../journal/row-status/row-status-view.js';
import { formatRowId } from '../kinds/ids.js';
import { kindOf } from '../kinds/kinds.js';
import type { RowOutcome } from '../kinds/step-kind.js';
import type { Plan, PlannedStep } from '../plan/format/plan-file.js';
import { assertPlanWhole, readRowBatches } from '../plan/format/planned-files.js';
import type { RowLine } from '../plan/format/row-line.js';
import { AcceptedCost, type StepCostSummary } from '../prices/billed-tally.js';
import type { Files } from '../storage/files.js';
import type { OutcomeReader, PlacedOutcome, SettledRow } from './outcome-reader.js';
import { describeRejection, describeSkip, describeVerdict, escapeServiceText, type Output } from './rows.js';
import { StepOutputs, type StepReport } from './step-outputs.js';

/** For results: the service's message about the row. */
const WORDS_COLUMN = '_description';

/**
 * Streams the rows of a step in their order, joins each with its outcome, and writes the step's five outputs, which get their
 * names whole, or never.
 */
export async function writeStepReport(
  files: Files,
  source: ReportedStep,
): Promise<StepReport & { readonly cost: StepCostSummary | undefined }> {
  const { plan, planned, directory } = source;
  const outputs = await StepOutputs.create(files, source, kindOf(rowStepOf(plan, planned)).resultColumns);
  const cost = planned.cost && new AcceptedCost(planned.cost);
  try {
    for await (const batch of readReported(files, source)) {
      for (const { row, output, about } of batch) {
        outputs.add(row, { output, about });
        if (row.state === 'planned' && output === 'results') cost?.add(row.costGroup);
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

/** The rows of a step in their order, in batches, each with the output that it stands in and what that says of it. */
export async function* readReported(files: Files, source: ReportedStep): AsyncGenerator<ReportedRow[]> {
  const { plan, planned, directory } = source;
  const rows = describeRows(source, rowStepOf(plan, planned));
  for await (const batch of readRowBatches(files, directory, planned)) {
    const reported: ReportedRow[] = [];
    for (const row of batch) {
      // To await each of a million rows takes longer than what is awaited.
      const reading = rows.moveTo(row);
      if (reading !== undefined) await reading;
      reported.push({ row, ...rows.describe(row) });
    }
    yield reported;
  }
}

function rowStepOf({ job }: Plan, { number }: PlannedStep): RowStep {
  const step = job.steps[number - 1];
  if (step !== undefined && isRowStep(step)) return step;
  throw new InternalError('unexpected', `Cannot report step ${number}: the plan has no rows for it`);
}

export interface ReportedRow {
  readonly row: RowLine;
  readonly output: Output;
  readonly about: readonly string[];
}

interface ReportedStep {
  readonly plan: Plan;
  readonly planned: PlannedStep;
  readonly directory: string;
  readonly rows: RowStatusView;
  readonly reader: OutcomeReader;
}

/** For each row of a step, in their order: first `moveTo`, which gives what is to be awaited, then `describe`. */
function describeRows(source: ReportedStep, step: RowStep) {
  const { plan, planned, rows } = source;
  const { number } = planned;
  const kind = kindOf(step);
  const isRepeatable = kind.isRepeatable(step);
  const wordsAt = kind.resultColumns.indexOf(WORDS_COLUMN);
  const escapeWords = createWordsEscape();
  const cursor = new OutcomeCursor(source);
  const next = { planned: 0, rejected: 0 };
  const idOf = (row: { isPlanned: boolean; index: number }) => formatRowId({ run: plan.id, step: number, ...row });

  const describePlanned = (facts: readonly string[], index: number) => {
    const { verdict, outcome } = cursor.endOf(index, isRepeatable);
    const retriedBy = rows.movedTo(number, index);
    if (retriedBy !== undefined)
      return describeSkip({ code: 'retried', reason: `Claimed by plan ${retriedBy}, which reports what became of it` });
    const cells = kind.resultCells({ planId: plan.id, step: number, index, facts }, outcome);
    const words = cells[wordsAt] ?? '';
    const escaped = escapeWords(words);
    const resultCells = escaped === words ? cells : cells.with(wordsAt, escaped);
    return describeVerdict(verdict, { resultCells, id: idOf({ isPlanned: true, index }) });
  };

  return {
    moveTo: (row: RowLine) => (row.state === 'planned' ? cursor.moveTo(row.request, next.planned) : undefined),
    describe: (row: RowLine) => {
      if (row.state === 'planned') return describePlanned(row.facts, next.planned++);
      if (row.state === 'skipped') return describeSkip(row.skip);
      const index = next.rejected++;
      // A row of another run stays with that run: it was not sent here either. There `where` had left it out: it was never looked at.
      const from = isLeftOutCode(plan.retryOf?.only) ? undefined : row.from;
      return describeRejection(row.rejection, from ?? idOf({ isPlanned: false, index }));
    },
  };
}

/** The service says the same of almost every row. */
function createWordsEscape(): (words: string) => string {
  let last = '';
  let escaped = '';
  return (words) => {
    if (words !== last) escaped = escapeServiceText(words);
    last = words;
    return escaped;
  };
}

/** Walks the outcomes beside the rows, all of them: the rows of a request stand together, in its order. */
class OutcomeCursor {
  readonly #rows: RowStatusView;
  readonly #reader: OutcomeReader;
  readonly #step: number;
  #request = 0;
  #outcomes: PlacedOutcome[] = [];
  #settled: SettledRow | undefined;

  constructor({ rows, reader, planned }: { rows: RowStatusView; reader: OutcomeReader; planned: PlannedStep }) {
    this.#rows = rows;
    this.#reader = reader;
    this.#step = planned.number;
  }

  /** Undefined where everything is read that `endOf` needs; else the reading of it. */
  moveTo(request: number, row: number): Promise<void> | undefined {
    this.#settled = undefined;
    const isSettled = this.#rows.isDecidedLater(this.#step, row);
    return isSettled || request !== this.#request ? this.#read(request, { row, isSettled }) : undefined;
  }

  async #read(request: number, { row, isSettled }: { row: number; isSettled: boolean }): Promise<void> {
    if (request !== this.#request) this.#outcomes = await this.#reader.outcomesOf(this.#step, request, row);
    this.#request = request;
    if (isSettled) this.#settled = await this.#reader.settledRow(this.#step, row);
  }

  /** Of the row that it was moved to. */
  endOf(row: number, isRepeatable: boolean): ReportedEnd {
    const settled = this.#settled;
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
    if (this.#rows.isWithWorkers(this.#step, row)) return WITH_WORKERS;
    return { status: 'in-doubt', code: 'run-ended', reason: 'Sent, and the run has no answer to it yet' };
  }
}

const WITH_WORKERS: Verdict = {
  status: 'in-doubt',
  code: 'with-workers',
  reason: 'Handed over to the database: a worker may have sent it; the same command finds out what came of it',
};

/** Undefined: unprocessed; an outcome without an answer: nothing was answered. */
interface ReportedEnd {
  readonly verdict: RowVerdict | undefined;
  readonly outcome: RowOutcome | undefined;
}
