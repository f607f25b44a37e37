import { UserError } from '../domain/errors.js';
import { cellsOf } from '../domain/row.js';
import { isLeftOutCode } from '../domain/row-codes.js';
import type { StatedTime } from '../domain/stated-time.js';
import { numbersOf } from '../filter/compile-country-test.js';
import { createRowPlanner } from '../filter/filter-rows.js';
import { FilterTally } from '../filter/filter-tally.js';
import type { InputRecord, RecordReader } from '../input/record-reader.js';
import { type ActionStep, isRowStep, type RowStep } from '../job/job.js';
import { actionKindOf } from '../kinds/kinds.js';
import type { PlannedRow, RowPlan, RowPlanner, RowReader, RowRefusal } from '../kinds/step-kind.js';
import type { CostTally } from '../prices/cost-tally.js';
import { ColumnBinding, FoldedNames } from './columns/bind-columns.js';
import { joinColumns } from './columns/join-columns.js';
import type { PlannedInput, PlannedStep } from './format/plan-file.js';
import { StepWriter } from './format/step-writer.js';
import type { HadLookup } from './had-lookup.js';
import type { DigestedInput, StepSelection } from './inputs/select-inputs.js';
import { planBlock } from './plan-block.js';
import type { PlanDeps } from './plan-deps.js';
import type { LoadedPrices } from './prices/load-prices.js';
import { createCostTally, refuseMissing } from './prices/missing-prices.js';
import type { ProblemList } from './problems.js';
import { findRefusal } from './reimport/own-outputs.js';
import { ReimportedRows, type RowOwners } from './reimport/reimported-rows.js';
import { RowsDigest } from './rows-digest.js';
import { createStageChooser } from './stage-chooser.js';
import { loadSuppression } from './suppress/suppression.js';
import { RowOrdinals, Tally } from './tally.js';
import { listClosed } from './time-faults.js';

export interface PlanStepContext {
  readonly planId: string;
  /** Where the step's two files are written. */
  readonly directory: string;
  readonly deps: PlanDeps;
  readonly problems: ProblemList;
  /** Absent: hours that never come are not refused. */
  readonly nowMs?: number | undefined;
  readonly notAfter?: StatedTime | undefined;
  /** For re-imported rows that other plans may have claimed; absent otherwise. */
  readonly owners?: RowOwners;
  /** Absent where the job has no prices. */
  readonly prices?: LoadedPrices | undefined;
  /** Who had which text before; absent where no one did. */
  readonly had?: HadLookup | undefined;
  /** Refuses a file whose numbers are nearly all on the step's suppression lists: absent where no new file is planned. */
  readonly refusesOptOuts?: true;
  /** Why a row that is retried, by its id, is not sent though it could be: its first fact is that of another row. */
  readonly refuseTwin?: ((step: number, id: string, key: string) => RowRefusal | undefined) | undefined;
  /** How rows are sent that were planned before; absent: they are planned from their cells. */
  readonly replay?: ((planner: RowPlanner) => RowReader) | undefined;
}

/** Reads all rows of a step and writes its two files. Problems are gathered; where there are any, no file is left. */
export async function planStep(selection: StepSelection, context: PlanStepContext): Promise<PlannedStep> {
  const { step, number } = selection;
  if (!isRowStep(step)) return planAction(step, number);
  const { deps, problems, planId, directory } = context;
  const suppression =
    step.suppress !== undefined ? await loadSuppression(selection.suppression, step.input, context) : undefined;
  const rows = new RowOrdinals();
  const names = new FoldedNames(deps.reader.findColumn);
  const created = createRowPlanner(step, {
    planId,
    step: number,
    findColumn: names.find,
    findSuppressed: (e164) => suppression?.find(e164),
    had: context.had,
    describeRow: (ordinal) => rows.describe(ordinal),
  });
  const replayed = context.replay?.(created);
  const planner = replayed === undefined ? created : { ...created, bind: () => replayed };
  const { kind, limits } = step;
  const chooser = createStageChooser(step);
  const writer = await StepWriter.create(deps.files, directory, { number, kind, planner, limits, chooser });
  const describeRow = (row: number) => rows.describe(row);
  const reimported = context.owners && new ReimportedRows({ kind, number }, context.owners, { describeRow });
  const costs = context.prices && createCostTally(step, context.prices.list);
  const planning = new StepPlanning({ number, step, context, planner, writer, rows, names, reimported, costs });
  const files: Omit<PlannedInput, 'columnMap'>[] = [];
  try {
    for (const [index, input] of selection.inputs.entries()) {
      files.push(await planning.planFile(index, input));
      const fault = context.refusesOptOuts && suppression?.refuseAudience(input);
      if (fault !== undefined) problems.add({ where: input.file.shown, ...fault });
    }
    if (costs !== undefined) refuseMissing(costs, { number, kind }, context);
    const { nowMs, notAfter } = context;
    if (problems.isEmpty && step.kind === 'sms' && step.window !== undefined && nowMs !== undefined) {
      for (const closed of listClosed(step.window, { groups: writer.groups, number, nowMs, notAfter }))
        problems.add(closed);
    }
    if (problems.isEmpty) await writer.finish();
    else await writer.discard();
  } catch (error) {
    await writer.discard();
    throw error;
  }
  const { columns, maps } = joinColumns(
    files.map((file) => file.columns),
    deps.reader.findColumn,
  );
  const inputs = files.map((file, index): PlannedInput => ({ ...file, columnMap: maps[index] ?? [] }));
  const figures = planning.figures();
  const lists = suppression?.figures(Object.keys(figures.countries).length) ?? [];
  return { number, kind, inputs, columns, suppression: lists, had: context.had?.figures(), ...figures };
}

/** A step without rows: what it does is decided at its turn. */
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
    reasons: [],
    countries: {},
    ucs2: {},
    examples: [actionKindOf(step).describe(step)],
    estimateSeconds: 0,
  };
}

/** A file of the step: its index there, its name as places show it, where it lies. */
interface FileOfStep {
  readonly index: number;
  readonly shown: string;
  readonly path: string;
}

class StepPlanning {
  readonly #number: number;
  readonly #step: RowStep;
  readonly #context: PlanStepContext;
  readonly #planner: RowPlanner;
  readonly #writer: StepWriter;
  readonly #rows: RowOrdinals;
  readonly #names: FoldedNames;
  readonly #reimported: ReimportedRows | undefined;
  readonly #costs: CostTally | undefined;
  readonly #tally: Tally;
  /** Of the current file. */
  #digest = new RowsDigest();

  constructor(parts: {
    number: number;
    step: RowStep;
    context: PlanStepContext;
    planner: RowPlanner;
    writer: StepWriter;
    rows: RowOrdinals;
    names: FoldedNames;
    reimported: ReimportedRows | undefined;
    costs: CostTally | undefined;
  }) {
    this.#number = parts.number;
    this.#step = parts.step;
    this.#context = parts.context;
    this.#planner = parts.planner;
    this.#writer = parts.writer;
    this.#rows = parts.rows;
    this.#names = parts.names;
    this.#reimported = parts.reimported;
    this.#costs = parts.costs;
    const { where } = parts.step.input;
    this.#tally = new Tally(
      where && new FilterTally(where, { findColumn: parts.names.find, numbers: numbersOf(parts.step) }),
    );
  }

  async planFile(index: number, input: DigestedInput): Promise<Omit<PlannedInput, 'columnMap'>> {
    const { deps, problems } = this.#context;
    const { shown, path, format } = input.file;
    const reader = deps.reader.readRecords(input.file, this.#step.input);
    const binding = new ColumnBinding(this.#planner, reader, { step: this.#number, mayGrow: format === 'ndjson' });
    const from = this.#rows.next;
    this.#rows.beginFile(shown);
    this.#digest = new RowsDigest();
    this.#tally.beginFile();
    const before = this.#writer.taken;
    await problems.gather(shown, async () => {
      await reader.open();
      const source = { index, shown, path };
      if (!(await this.#planDrafts(reader, source))) await this.#planRecords(reader, { source, binding });
      this.#writer.endFile();
      this.#refuseOutput(reader, shown);
      binding.addProblems(shown, problems);
      const faults = this.#tally.endFile(this.#writer.taken - before);
      // Rows that are re-imported were wrong before, each by itself.
      if (reader.ownColumns.length === 0) for (const fault of faults) problems.add(fault);
      if (reader.sha256 !== input.sha256) {
        const hint = 'Run again when no process writes to it.';
        problems.add({ where: shown, message: 'the file changed while it was read', hint });
      }
    });
    const { columns, notices } = reader;
    const { sha256, contentSha256, bytes } = input;
    const fedFrom = this.#reimported?.takeRuns() ?? [];
    // Re-imported rows are identified by their ids, in whatever file they stand.
    const rowsSha256 = reader.ownColumns.length > 0 ? undefined : this.#digest.finish(columns);
    return {
      file: shown,
      path,
      sha256,
      contentSha256,
      rowsSha256,
      bytes,
      columns: [...columns],
      rows: this.#rows.next - from,
      notices: [...notices, ...this.#names.takeNotices()],
      ...(fedFrom.length === 0 ? {} : { fedFrom }),
    };
  }

  #refuseOutput({ ownColumns }: RecordReader, shown: string): void {
    const refusals = ownColumns.map((own) => findRefusal(own, this.#step.kind));
    const refusal = refusals.find((each) => each !== undefined);
    if (refusal !== undefined) this.#context.problems.add({ where: shown, ...refusal });
  }

  /** False where the reader has no drafts of the rows. */
  async #planDrafts(reader: RecordReader, { index, shown, path }: FileOfStep): Promise<boolean> {
    // Stages are chosen by records; the cell that names a row's zone is read with its record, too.
    if (this.#step.ramp !== undefined) return false;
    if (this.#step.kind === 'sms' && typeof this.#step.window?.timeZone === 'object') return false;
    const { drafts } = this.#planner;
    const blocks = reader.draftedBlocks?.(this.#step);
    if (drafts === undefined || blocks === undefined) return false;
    const source = { file: shown, path, columns: reader.columns };
    const target = {
      file: index,
      source,
      rows: this.#rows,
      tally: this.#tally,
      writer: this.#writer,
      costs: this.#costs,
    };
    for await (const block of blocks) {
      this.#checkSignal();
      this.#digest.addRows(block.rows.cells);
      planBlock(block, drafts, target);
      await this.#endBatch();
    }
    return true;
  }

  async #planRecords(
    reader: RecordReader,
    { source, binding }: { source: FileOfStep; binding: ColumnBinding },
  ): Promise<void> {
    for await (const batch of reader.batches()) {
      const reimported = reader.ownColumns.length === 0 ? undefined : this.#reimported;
      await reimported?.prepare(batch);
      this.#checkSignal();
      const read = binding.rows;
      if (read === undefined) continue;
      for (const record of batch) {
        this.#digest.addRow(record, reader.columns.length);
        this.#planRow(record, { source, columns: reader.columns, read, reimported });
      }
      await this.#endBatch();
    }
  }

  #checkSignal(): void {
    if (!this.#context.deps.signal.aborted) return;
    throw new UserError('interrupted', 'Cannot plan the job: it was interrupted; nothing was sent', {
      hint: 'Run the same command again.',
    });
  }

  async #endBatch(): Promise<void> {
    await this.#writer.flush();
    this.#context.deps.onProgress({ step: this.#number, rows: this.#rows.next });
  }

  #planRow(
    record: InputRecord,
    {
      source,
      columns,
      read,
      reimported,
    }: {
      source: FileOfStep;
      columns: readonly string[];
      read: RowReader;
      reimported: ReimportedRows | undefined;
    },
  ): void {
    const writer = this.#writer;
    const { line, row, fault, ownId } = record;
    const cellsJson = record.cellsJson ?? JSON.stringify(record.cells);
    const from = ownId === '' ? undefined : ownId;
    const place = { file: source.index, line, row, from };
    const ordinal = this.#rows.take();
    const known = from === undefined ? undefined : reimported?.check(from);
    const told: RowPlan =
      fault === undefined ? (known ?? read(record, ordinal, writer.planned)) : { kind: 'rejected', rejection: fault };
    const plan = this.#refuseTwin(told, from, reimported) ?? told;
    this.#tally.add(plan);
    if (plan.kind === 'planned') {
      plan.row.note?.();
      if (from !== undefined) reimported?.noteTaken(from, ordinal);
      this.#tally.addKept?.(cellsOf(record.cells), columns);
      writer.addPlanned({ ...place, costGroup: this.#addCost(plan.row) }, plan.row, cellsJson);
    } else if (plan.kind === 'rejected') {
      const { shown: file, path } = source;
      this.#tally.addReason(plan.rejection, () => ({ file, path, line, row, columns, cells: record.cells }));
      writer.addRow({ ...place, state: 'rejected', rejection: plan.rejection }, cellsJson);
    } else {
      const isKept = isLeftOutCode(plan.skip.code);
      if (isKept && from !== undefined) reimported?.noteTaken(from, ordinal);
      if (plan.skip.code === 'filtered') this.#tally.addFiltered(plan.skip.reason, cellsOf(record.cells), columns);
      writer.addRow({ ...place, from: isKept ? from : undefined, state: 'skipped', skip: plan.skip }, cellsJson);
    }
  }

  /** Rows of other runs are compared with those that these send. */
  #refuseTwin(told: RowPlan, from: string | undefined, reimported: ReimportedRows | undefined): RowRefusal | undefined {
    if (told.kind !== 'planned' || from === undefined) return undefined;
    const [key = ''] = told.row.facts;
    return this.#context.refuseTwin?.(this.#number, from, key) ?? reimported?.refuseTwin(from, key);
  }

  #addCost({ country, number, segments: parts, extraParts, forcesUcs2: characters }: PlannedRow): number | undefined {
    return this.#costs?.add({ country, number, parts, extraParts, characters });
  }

  figures(): Omit<PlannedStep, 'number' | 'kind' | 'inputs' | 'columns' | 'suppression'> {
    const { planned, requests, messages, segments, seconds, files, groups, stages, firstStage } = this.#writer;
    const { window } = this.#step.kind === 'sms' ? this.#step : { window: undefined };
    const hours = window === undefined ? {} : { hours: { groups, timeZoneData: process.versions.tz ?? '' } };
    const { rejected, skipped, ...told } = this.#tally.figures(this.#rows.next);
    const counts = { read: this.#rows.next, planned, rejected, skipped, requests, messages, segments };
    const cost = this.#costs === undefined ? {} : { cost: this.#costs.figures(stages && firstStage) };
    return { counts, ...told, ...cost, ...hours, stages, estimateSeconds: Math.ceil(seconds), files };
  }
}
