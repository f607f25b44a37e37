import { createHash } from 'node:crypto';
import { UserError } from '../domain/errors.js';
import { isLeftOutCode } from '../domain/row-codes.js';
import type { StatedTime } from '../domain/stated-time.js';
import { numbersOf } from '../filter/compile-country-test.js';
import { createRowPlanner } from '../filter/filter-rows.js';
import { FilterTally } from '../filter/filter-tally.js';
import { type ActionStep, isRowStep, type RowStep } from '../job/job.js';
import { actionKindOf } from '../kinds/kinds.js';
import type { DraftRow, RowPlanner, RowRefusal } from '../kinds/step-kind.js';
import type { CostTally } from '../prices/cost-tally.js';
import { ColumnBinding, joinColumns } from './columns/bind-columns.js';
import { DraftedRows, judgeRow } from './format/drafted-row.js';
import type { PlannedInput, PlannedStep } from './format/plan-file.js';
import { StepWriter } from './format/step-writer.js';
import type { HadLookup } from './had-lookup.js';
import type { DigestedInput, StepSelection } from './inputs/select-inputs.js';
import type { PlanDeps } from './plan-deps.js';
import { createCostTally, type LoadedPrices, refuseMissing } from './prices/missing-prices.js';
import type { ProblemList } from './problems.js';
import { findRefusal } from './reimport/own-outputs.js';
import { ReimportedRows, type RowOwners } from './reimport/reimported-rows.js';
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
  /** Drafts of rows that were planned before, in their order; absent: they are drafted from their cells. */
  readonly replay?: ((planner: RowPlanner) => DraftRow) | undefined;
}

/** What the files of a step are planned with. */
interface StepPlanning {
  readonly step: RowStep;
  readonly number: number;
  readonly context: PlanStepContext;
  readonly planner: RowPlanner;
  readonly replayed: DraftRow | undefined;
  readonly writer: StepWriter;
  readonly rows: RowOrdinals;
  readonly reimported: ReimportedRows | undefined;
  readonly costs: CostTally | undefined;
  readonly tally: Tally;
}

/** Reads all rows of a step and writes its two files. Problems are gathered; where there are any, no file is left. */
export async function planStep(selection: StepSelection, context: PlanStepContext): Promise<PlannedStep> {
  const { step, number } = selection;
  if (!isRowStep(step)) return planAction(step, number);
  const { deps, problems, planId, directory } = context;
  const suppression =
    step.suppress !== undefined ? await loadSuppression(selection.suppression, step.input, context) : undefined;
  const rows = new RowOrdinals();
  const describeRow = (row: number) => rows.describe(row);
  const created = createRowPlanner(step, {
    planId,
    step: number,
    findSuppressed: (e164) => suppression?.find(e164),
    had: context.had,
    describeRow,
  });
  const replayed = context.replay?.(created);
  const { refuse: _refuse, note: _note, ...sending } = created;
  const planner = replayed === undefined ? created : sending;
  const { kind, limits } = step;
  const { where } = step.input;
  const chooser = createStageChooser(step);
  const writer = await StepWriter.create(deps.files, directory, { number, kind, planner, limits, chooser });
  const reimported = context.owners && new ReimportedRows({ kind, number }, context.owners, { describeRow });
  const planning: StepPlanning = {
    step,
    number,
    context,
    planner,
    replayed,
    writer,
    rows,
    reimported,
    costs: context.prices && createCostTally(step, context.prices.list),
    tally: new Tally(where && new FilterTally(where, numbersOf(step))),
  };
  const files: Omit<PlannedInput, 'columnMap'>[] = [];
  try {
    const { readRecords } = deps.reader;
    await reimported?.readAhead(
      selection.inputs,
      (file) => readRecords(file, step.input),
      () => assertNotInterrupted(deps),
    );
    for (const [index, input] of selection.inputs.entries()) {
      files.push(await planFile(planning, index, input));
      const fault = context.refusesOptOuts && suppression?.refuseAudience(input);
      if (fault !== undefined) problems.add({ where: input.file.shown, ...fault });
    }
    if (planning.costs !== undefined) refuseMissing(planning.costs, { number, kind }, context);
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
  const { columns, maps } = joinColumns(files.map((file) => file.columns));
  const inputs = files.map((file, index): PlannedInput => ({ ...file, columnMap: maps[index] ?? [] }));
  const figures = figuresOf(planning);
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

/** A file of the step: its index there, its content, its name as places show it, where it lies, its columns as far as they are known. */
interface FileOfStep {
  readonly index: number;
  readonly contentSha256: string;
  readonly file: string;
  readonly path: string;
  readonly columns: readonly string[];
}

async function planFile(
  planning: StepPlanning,
  index: number,
  input: DigestedInput,
): Promise<Omit<PlannedInput, 'columnMap'>> {
  const { step, context, rows, writer, tally, replayed } = planning;
  const { deps, problems } = context;
  const { shown: file, path, format } = input.file;
  const reader = deps.reader.readRecords(input.file, step.input, step);
  const binding = new ColumnBinding(planning, reader, {
    mayGrow: format === 'ndjson',
    replayed,
  });
  const from = rows.next;
  rows.beginFile(file);
  const digest = createHash('sha256');
  tally.beginFile();
  const before = writer.taken;
  await problems.gather(file, async () => {
    await reader.open();
    for await (const block of reader.blocks()) {
      assertNotInterrupted(deps);
      const { draftRow } = binding;
      digest.update(block.rows.cells);
      if (draftRow === undefined) continue;
      await planning.reimported?.prepare(block.rows.ownIds.values());
      const row = new DraftedRows(block, draftRow);
      const source = { index, contentSha256: input.contentSha256, file, path, columns: reader.columns };
      for (; row.index < row.count; row.index += 1) planRow(row, source, planning);
      await writer.flush();
      deps.onProgress({ step: planning.number, rows: rows.next });
    }
    writer.endFile();
    const refusals = reader.ownColumns.map((own) => findRefusal(own, step.kind));
    const refusal = refusals.find((each) => each !== undefined);
    if (refusal !== undefined) problems.add({ where: file, ...refusal });
    binding.addProblems(file, problems);
    const faults = tally.endFile(writer.taken - before);
    // Rows that are re-imported were wrong before, each by itself.
    if (reader.ownColumns.length === 0) for (const fault of faults) problems.add(fault);
    if (reader.sha256 !== input.sha256) {
      const hint = 'Run again when no process writes to it.';
      problems.add({ where: file, message: 'the file changed while it was read', hint });
    }
  });
  const { columns, notices, ownColumns } = reader;
  const { sha256, contentSha256, bytes } = input;
  const fedFrom = planning.reimported?.takeRuns() ?? [];
  // Re-imported rows are identified by their ids, in whatever file they stand.
  const isOwn = ownColumns.length > 0;
  return {
    file,
    path,
    sha256,
    contentSha256,
    // Names and cells in their order: the same in whatever encoding they are written, with whatever delimiter, and as NDJSON.
    rowsSha256: isOwn ? undefined : digest.update(JSON.stringify(columns)).digest('hex'),
    bytes,
    columns: [...columns],
    rows: rows.next - from,
    notices: [...notices, ...binding.notices],
    ...(fedFrom.length === 0 ? {} : { fedFrom }),
  };
}

function assertNotInterrupted({ signal }: PlanDeps): void {
  if (!signal.aborted) return;
  throw new UserError('interrupted', 'Cannot plan the job: it was interrupted; nothing was sent', {
    hint: 'Run the same command again.',
  });
}

function planRow(row: DraftedRows, source: FileOfStep, planning: StepPlanning): void {
  const { index, file, path, columns } = source;
  const { writer, tally, planner } = planning;
  const { line, row: number, ownId } = row;
  const from = ownId === '' ? undefined : ownId;
  row.ordinal = planning.rows.take();
  const judged = from === undefined ? judgeNew(row, source, planning) : judgeReimported(row, { from, index }, planning);
  if (typeof judged !== 'object') {
    planner.note?.(row);
    if (from !== undefined) planning.reimported?.noteTaken(from, row.ordinal);
    tally.addKept?.(row.cells, columns);
    tally.addPlanned(row, planner);
    writer.addPlanned({ file: index, line, row: number, from, costGroup: addCost(row, planning) }, row, judged);
    return;
  }
  tally.addRefused(judged);
  if (judged.kind === 'rejected') {
    tally.addReason(judged.rejection, () => ({ file, path, line, row: number, columns, cells: row.cells.texts }));
    writer.addRefused({ file: index, line, row: number, from }, judged, row);
    return;
  }
  const isKept = isLeftOutCode(judged.skip.code);
  if (isKept && from !== undefined) planning.reimported?.noteTaken(from, row.ordinal);
  if (judged.skip.code === 'filtered') tally.addFiltered(judged.skip.reason, row.cells, columns);
  writer.addRefused({ file: index, line, row: number, from: isKept ? from : undefined }, judged, row);
}

/** Why a row is not sent; where it is, the group of its hours, if it has its own. */
function judgeNew(
  row: DraftedRows,
  { contentSha256 }: FileOfStep,
  { reimported, planner }: StepPlanning,
): RowRefusal | string | undefined {
  return reimported?.findComeBack(contentSha256, row.row) ?? judgeRow(row, planner);
}

/** The same for a row with an id. */
function judgeReimported(
  row: DraftedRows,
  { from, index }: { from: string; index: number },
  { reimported, planner, context, number }: StepPlanning,
): RowRefusal | string | undefined {
  const judged = (row.fault === undefined ? reimported?.check(from) : undefined) ?? judgeRow(row, planner);
  if (typeof judged === 'object') {
    return judged.kind === 'rejected' ? (reimported?.findLater(from, index) ?? judged) : judged;
  }
  // Rows of other runs are compared with those that these send.
  const [key = ''] = row.facts;
  return context.refuseTwin?.(number, from, key) ?? reimported?.refuseTwin(from, key) ?? judged;
}

function addCost(row: DraftedRows, { costs }: StepPlanning): number | undefined {
  if (costs === undefined) return undefined;
  const { country, number, segments: parts, extraParts, ucs2: characters } = row;
  return costs.add({ country, number, parts, extraParts, characters });
}

function figuresOf({
  step,
  writer,
  rows,
  tally,
  costs,
}: StepPlanning): Omit<PlannedStep, 'number' | 'kind' | 'inputs' | 'columns' | 'suppression'> {
  const { planned, requests, messages, segments, seconds, files, groups, stages, firstStage } = writer;
  const { window } = step.kind === 'sms' ? step : { window: undefined };
  const hours = window === undefined ? {} : { hours: { groups, timeZoneData: process.versions.tz ?? '' } };
  const { rejected, skipped, ...told } = tally.figures(rows.next);
  const counts = { read: rows.next, planned, rejected, skipped, requests, messages, segments };
  const cost = costs === undefined ? {} : { cost: costs.figures(stages && firstStage) };
  return { counts, ...told, ...cost, ...hours, stages, estimateSeconds: Math.ceil(seconds), files };
}
