import { RowWriter } from '../domain/bytes/row-writer.js';
import { BLOCK_ROWS, type ReadBlock, type RecordReader } from '../input/record-reader.js';
import { isRowStep, type Step } from '../job/job.js';
import { removeLeftovers } from '../storage/leftovers.js';
import type { PlannedInput, PlannedStep } from './format/plan-file.js';
import type { RowLine } from './format/row-line.js';
import { assertTimes } from './guards.js';
import { type MadePlan, type PlanHead, type PlanPlace, writeNewPlan } from './make-plan.js';
import type { DigestedInput, PlanDeps } from './plan-deps.js';
import { type PlanStepContext, planStep } from './plan-step.js';
import { ProblemList } from './problems.js';
import { digestSuppression } from './suppress/list-suppression.js';

/** Rows that were planned before, by steps. */
export interface RowsSource {
  readonly steps: readonly SourceStep[];
  /** Reads the rows of a step in the order of its inputs; of a step with stages, in any order. */
  rowsOf(step: SourceStep): AsyncGenerator<RowLine>;
  readonly refuseTwin?: PlanStepContext['refuseTwin'];
}

export interface SourceStep extends Pick<PlannedStep, 'number' | 'stages'> {
  readonly inputs: readonly (Pick<PlannedInput, 'file' | 'columns'> & Partial<PlannedInput>)[];
  /** How many rows there are to plan; absent where there are some. */
  readonly counts?: { readonly planned: number };
}

/**
 * Writes a plan of rows of another plan into the directory of its id: cells and places as they stand there, ids of its own; nothing is
 * sent. Suppression lists are read again: recipients who opted out since are skipped. The same rows give the same id, and a plan that
 * was never applied is replaced. The caller must claim the rows before the plan can be sent.
 */
export async function makeRetryPlan(
  source: RowsSource,
  head: PlanHead,
  { deps, place, task, hint }: { deps: PlanDeps; place: PlanPlace; task: string; hint: string },
): Promise<MadePlan> {
  const { job } = head;
  const stepOf = ({ number }: SourceStep): Step[] => job.steps.slice(number - 1, number);
  const timed = source.steps.filter(({ counts }) => counts?.planned !== 0);
  const times = timed.flatMap((planned) => stepOf(planned).map((step) => ({ number: planned.number, step })));
  assertTimes(job, times, { nowMs: place.nowMs, task, hint });
  await removeLeftovers(deps.files, place.directories.jobDirectory, { prefix: '.' });
  const context = { deps, place, problems: new ProblemList(task) };
  const made = await writeNewPlan(head, context, async (begin) => {
    const steps: PlannedStep[] = [];
    for (const planned of source.steps) {
      for (const step of stepOf(planned)) steps.push(await planRows(step, planned, { source, head, context: begin() }));
    }
    return steps;
  });
  return made as MadePlan;
}

async function planRows(
  step: Step,
  planned: SourceStep,
  { source, head, context }: { source: RowsSource; head: PlanHead; context: PlanStepContext },
): Promise<PlannedStep> {
  const { number } = planned;
  const selection = { step, number, listed: [], inputs: [], suppression: [], leftOut: [] };
  if (!isRowStep(step)) return planStep(selection, context);
  const inputs = planned.inputs.map((input): DigestedInput => {
    const { file, path = '', sha256 = '', contentSha256 = '', bytes = 0 } = input;
    return { file: { path, shown: file, format: 'csv' }, sha256, bytes, contentSha256 };
  });
  // A test asks no list here: it goes to own numbers.
  const { testOf, job } = head;
  const suppression =
    testOf === undefined ? await digestSuppression(step, job.directory, { ...context, where: 'suppress' }) : [];
  const records = new PlannedRecords(planned, () => source.rowsOf(planned));
  const { refuseTwin } = source;
  const readPlanned = (index: number) => records.readInput(index);
  try {
    const made = await planStep({ ...selection, inputs, suppression }, { ...context, refuseTwin, readPlanned });
    // The digest stays that of all rows of the file, not of those that are planned again.
    const known = made.inputs.map((input, index) => ({ ...input, rowsSha256: planned.inputs[index]?.rowsSha256 }));
    return { ...made, inputs: known };
  } finally {
    await records.close();
  }
}

/**
 * Rows of a step of another plan as records of its inputs: cells and places as that plan holds them, since the files
 * may have changed. Read the inputs one after the other, in their order. Where the plan has stages, rows of a file may stand behind those
 * of later ones: then all rows are read for each input.
 */
class PlannedRecords {
  readonly #planned: SourceStep;
  readonly #open: () => AsyncGenerator<RowLine>;
  #rows: AsyncGenerator<RowLine>;
  /** The first row of a later input, read ahead. */
  #ahead: RowLine | undefined;

  constructor(planned: SourceStep, open: () => AsyncGenerator<RowLine>) {
    this.#planned = planned;
    this.#open = open;
    this.#rows = open();
  }

  readInput(index: number): RecordReader {
    const { columns = [], sha256 = '' } = this.#planned.inputs[index] ?? {};
    const none = { ownColumns: [], notices: [], open: async () => {}, close: async () => {} };
    return { ...none, columns, sha256, blocks: () => this.#blocks(index, columns.length) };
  }

  async close(): Promise<void> {
    await this.#rows.return(undefined);
  }

  async *#blocks(input: number, width: number): AsyncGenerator<ReadBlock> {
    const writer = new RowWriter(width);
    const isOrdered = this.#planned.stages === undefined;
    if (!isOrdered) {
      await this.close();
      this.#rows = this.#open();
    }
    for (let row = await this.#next(); row !== undefined; row = await this.#next()) {
      if (row.file !== input && !isOrdered) continue;
      if (row.file !== input) {
        this.#ahead = row;
        break;
      }
      const { cells, line, row: number, from } = row;
      writer.add({ cells, line, row: number, fault: undefined, ownId: from });
      if (writer.count === BLOCK_ROWS) yield { rows: writer.take() };
    }
    if (writer.count > 0) yield { rows: writer.take() };
  }

  async #next(): Promise<RowLine | undefined> {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (ahead !== undefined) return ahead;
    const { value, done } = await this.#rows.next();
    return done === true ? undefined : value;
  }
}
