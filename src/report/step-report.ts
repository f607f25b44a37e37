import type { Verdict } from '../domain.js';
import { InternalError } from '../errors.js';
import type { Files } from '../files.js';
import { isRowStep } from '../job/job.js';
import { splitLines } from '../journal/reader.js';
import type { OpenRequest } from '../journal/replay.js';
import { decodeRowLine, type Plan, type PlannedStep, rowsFile } from '../plan/file.js';
import type { RowOutcome } from '../steps/kind.js';
import { kindOf } from '../steps/table.js';
import type { OutcomeIndex, PlacedOutcome } from './outcome-index.js';
import { describeRejection, describeSkip, describeVerdict } from './rows.js';
import { StepOutputs, type StepReport } from './step-outputs.js';

/** Streams the rows of a step in their order, joins each with its outcome, and writes the step's five outputs whole. */
export async function writeStepReport(
  files: Files,
  source: { plan: Plan; planned: PlannedStep; directory: string; index: OutcomeIndex },
): Promise<StepReport> {
  const { plan, planned, directory, index } = source;
  const step = plan.job.steps[planned.number - 1];
  if (step === undefined || !isRowStep(step))
    throw new InternalError('unexpected', `Cannot report step ${planned.number}: the plan has no rows for it`);
  const kind = kindOf(step);
  const outputs = await StepOutputs.create(files, source, kind.resultColumns);
  const cursor = new OutcomeCursor(index, planned.number);
  const path = rowsFile(directory, planned);
  const file = await files.openRead(path);
  const isRepeatable = kind.isRepeatable(step);
  let plannedRows = 0;
  try {
    for await (const { bytes } of splitLines(file)) {
      const row = decodeRowLine(bytes.toString('utf8'), path);
      if (row.state === 'rejected') outputs.add(row, describeRejection(row.rejection));
      else if (row.state === 'skipped') outputs.add(row, describeSkip(row.skip));
      else {
        const outcome = await cursor.outcomeOf(row.request, plannedRows);
        const facts = { planId: plan.id, step: planned.number, index: plannedRows, facts: row.facts };
        const verdict = outcome?.verdict ?? cursor.openVerdict(plannedRows, isRepeatable);
        outputs.add(row, describeVerdict(verdict, kind.resultCells(facts, outcome)));
        plannedRows += 1;
      }
      if (outputs.isFull) await outputs.flush();
    }
    return await outputs.finish();
  } catch (error) {
    await outputs.discard();
    throw error;
  } finally {
    await file.close();
  }
}

/** Walks the outcomes beside the rows: the rows of a request stand together, in its order. */
class OutcomeCursor {
  readonly #index: OutcomeIndex;
  readonly #step: number;
  #request = 0;
  #outcomes: PlacedOutcome[] = [];
  #inFlight: OpenRequest[] = [];

  constructor(index: OutcomeIndex, step: number) {
    this.#index = index;
    this.#step = step;
  }

  async outcomeOf(request: number, row: number): Promise<RowOutcome | undefined> {
    if (request !== this.#request) {
      this.#request = request;
      this.#outcomes = await this.#index.outcomesOf(this.#step, request, row);
      this.#inFlight = this.#index.inFlight(this.#step, request);
    }
    const settled = this.#index.settledRow(this.#step, row);
    for (const { first, outcomes } of this.#outcomes) {
      const given = outcomes.rows[row - first];
      if (given === undefined) continue;
      const [index, ...ids] = given;
      const verdict = outcomes.verdicts[index];
      if (verdict !== undefined) return { verdict, ids, ...settled, shared: outcomes.shared };
    }
    return undefined;
  }

  /** For a row without an outcome: was it sent by a process that died, or is it under way at this moment? */
  openVerdict(row: number, isRepeatable: boolean): Verdict | undefined {
    const isOpen = this.#inFlight.some(({ rows: [first, count] }) => row >= first && row < first + count);
    if (!isOpen || isRepeatable) return undefined;
    return { status: 'in-doubt', code: 'run-ended', reason: 'Sent, and the run has no answer to it yet' };
  }
}
