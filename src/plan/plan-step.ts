import type { SourceRecord } from '../domain.js';
import { UserError } from '../errors.js';
import { type ActionStep, type Input, isRowStep, type RowStep } from '../job/job.js';
import type { RowPlanner, RowReader } from '../steps/kind.js';
import { actionKindOf, kindOf } from '../steps/table.js';
import { ColumnBinding } from './bind.js';
import { joinColumns } from './columns.js';
import type { PlannedInput, PlannedStep } from './file.js';
import { FoldedNames } from './folded-names.js';
import type { PlanDeps } from './ports.js';
import type { ProblemList } from './problems.js';
import type { DigestedInput, StepSelection } from './select.js';
import { StepWriter } from './step-writer.js';
import { loadSuppression } from './suppression.js';
import { RowOrdinals, Tally } from './tally.js';

export interface PlanStepContext {
  readonly planId: string;
  /** Where the step's two files are written. */
  readonly directory: string;
  readonly deps: PlanDeps;
  readonly problems: ProblemList;
}

/** Reads all rows of a step and writes its two files. Problems are gathered; where there are any, no file is left. */
export async function planStep(selection: StepSelection, context: PlanStepContext): Promise<PlannedStep> {
  const { step, number } = selection;
  if (!isRowStep(step)) return planAction(step, number);
  const { deps, problems, planId, directory } = context;
  const suppression =
    step.kind === 'sms' && step.suppress !== undefined
      ? await loadSuppression(selection.suppression, inheritCountry(step.suppress, step.input), context)
      : undefined;
  const rows = new RowOrdinals();
  const names = new FoldedNames(deps.reader.findColumn);
  const planner = kindOf(step).createPlanner(step, {
    planId,
    step: number,
    findColumn: names.find,
    isSuppressed: (e164) => suppression?.numbers.has(e164) ?? false,
    describeRow: (ordinal) => rows.describe(ordinal),
  });
  const { kind, limits } = step;
  const writer = await StepWriter.create(deps.files, directory, { number, kind, planner, limits });
  const planning = new StepPlanning({ number, step, context, planner, writer, rows, names });
  const files: Omit<PlannedInput, 'columnMap'>[] = [];
  for (const [index, input] of selection.inputs.entries()) files.push(await planning.planFile(index, input));
  if (problems.isEmpty) await writer.finish();
  else await writer.discard();
  const { columns, maps } = joinColumns(
    files.map((file) => file.columns),
    deps.reader.findColumn,
  );
  const inputs = files.map((file, index): PlannedInput => ({ ...file, columnMap: maps[index] ?? [] }));
  return { number, kind, inputs, columns, suppression: suppression?.inputs ?? [], ...planning.figures() };
}

/** A step without rows: what it does is decided when its turn comes. */
function planAction(step: ActionStep, number: number): PlannedStep {
  return {
    number,
    kind: step.kind,
    inputs: [],
    columns: [],
    suppression: [],
    counts: { read: 0, planned: 0, rejected: 0, skipped: 0, requests: 0, messages: 0, segments: 0 },
    rejections: {},
    skips: {},
    countries: {},
    ucs2: {},
    examples: [actionKindOf(step).describe(step)],
    estimateSeconds: 0,
  };
}

/** A list that says nothing of countries is read as the input is. */
function inheritCountry(list: Input, input: Input): Input {
  return list.country === undefined && list.countryColumn === undefined ? { ...list, country: input.country } : list;
}

class StepPlanning {
  readonly #number: number;
  readonly #step: RowStep;
  readonly #context: PlanStepContext;
  readonly #planner: RowPlanner;
  readonly #writer: StepWriter;
  readonly #rows: RowOrdinals;
  readonly #names: FoldedNames;
  readonly #tally = new Tally();

  constructor(parts: {
    number: number;
    step: RowStep;
    context: PlanStepContext;
    planner: RowPlanner;
    writer: StepWriter;
    rows: RowOrdinals;
    names: FoldedNames;
  }) {
    this.#number = parts.number;
    this.#step = parts.step;
    this.#context = parts.context;
    this.#planner = parts.planner;
    this.#writer = parts.writer;
    this.#rows = parts.rows;
    this.#names = parts.names;
  }

  async planFile(index: number, input: DigestedInput): Promise<Omit<PlannedInput, 'columnMap'>> {
    const { deps, problems } = this.#context;
    const { shown, path, format } = input.file;
    const reader = deps.reader.readRecords(input.file, this.#step.input);
    const binding = new ColumnBinding(this.#planner, reader, format === 'ndjson');
    const from = this.#rows.next;
    this.#rows.beginFile(shown);
    await problems.gather(shown, async () => {
      await reader.open();
      for await (const batch of reader.batches()) await this.#planBatch(batch, index, binding.rows);
      binding.addProblems(shown, problems);
      if (reader.sha256 !== input.sha256) {
        const hint = 'Run again when nobody writes to it.';
        problems.add({ where: shown, message: 'the file changed while it was read', hint });
      }
    });
    const { columns, notices } = reader;
    const { sha256, contentSha256, bytes } = input;
    return {
      file: shown,
      path,
      sha256,
      contentSha256,
      bytes,
      columns: [...columns],
      rows: this.#rows.next - from,
      notices: [...notices, ...this.#names.takeNotices()],
    };
  }

  async #planBatch(batch: readonly SourceRecord[], file: number, read: RowReader | undefined): Promise<void> {
    if (this.#context.deps.signal.aborted) {
      throw new UserError('interrupted', 'Cannot plan the job: it was interrupted; nothing of it was sent', {
        hint: 'Run the same command again.',
      });
    }
    if (read === undefined) return;
    for (const record of batch) this.#planRow(record, file, read);
    await this.#writer.flush();
    this.#context.deps.onProgress({ step: this.#number, rows: this.#rows.next });
  }

  #planRow(record: SourceRecord, file: number, read: RowReader): void {
    const writer = this.#writer;
    const { line, row, cells, cellsJson, fault } = record;
    const place = { file, line, row, cells };
    const ordinal = this.#rows.take();
    const plan =
      fault === undefined ? read(record, ordinal, writer.planned) : ({ kind: 'rejected', rejection: fault } as const);
    this.#tally.add(plan);
    if (plan.kind === 'planned') writer.addPlanned(place, plan.row, cellsJson);
    else if (plan.kind === 'rejected')
      writer.addRow({ ...place, state: 'rejected', rejection: plan.rejection }, cellsJson);
    else writer.addRow({ ...place, state: 'skipped', skip: plan.skip }, cellsJson);
  }

  figures(): Omit<PlannedStep, 'number' | 'kind' | 'inputs' | 'columns' | 'suppression'> {
    const { planned, requests, messages, segments, seconds } = this.#writer;
    const { rejected, skipped, ...told } = this.#tally.figures();
    const counts = { read: this.#rows.next, planned, rejected, skipped, requests, messages, segments };
    return { counts, ...told, estimateSeconds: Math.ceil(seconds) };
  }
}
