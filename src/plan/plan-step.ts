import { createHash } from 'node:crypto';
import { UserError } from '../domain/errors.js';
import { ID_COLUMN } from '../domain/output-columns.js';
import { isLeftOutCode } from '../domain/row-codes.js';
import type { StatedTime } from '../domain/stated-time.js';
import { numbersOf } from '../filter/compile-test.js';
import { FilterTally } from '../filter/filter-tally.js';
import type { RecordReader } from '../input/record-reader.js';
import { type ActionStep, isRowStep, type RowStep } from '../job/job.js';
import { actionKindOf, kindOf } from '../kinds/kinds.js';
import { createRowJudge, type RowJudge } from '../kinds/row-judge.js';
import type { RowPlanner, RowRefusal } from '../kinds/step-kind.js';
import type { CostTally } from '../prices/cost-tally.js';
import { createColumnBinding, joinColumns } from './bind-columns.js';
import type { PlannedInput, PlannedStep } from './format/plan-file.js';
import { DraftedRows } from './format/row-line.js';
import { StepWriter } from './format/step-writer.js';
import { listClosed } from './guards.js';
import { createCostTally, type LoadedPrices, refuseMissingPrices } from './load-prices.js';
import type { DigestedInput, HadLookup, PlanDeps } from './plan-deps.js';
import type { ProblemList } from './problems.js';
import { createReimportedRows, findRefusal, type ReimportedRows, type RowOwners } from './reimport/reimported-rows.js';
import type { StepSelection } from './select-inputs.js';
import { createStageChooser } from './stage-chooser.js';
import { loadSuppression } from './suppress/suppression.js';
import { RowOrdinals, Tally } from './tally.js';

export interface PlanStepContext {
  readonly planId: string;
  /** Where the step's two files are written. */
  readonly directory: string;
  readonly deps: PlanDeps;
  readonly problems: ProblemList;
  /** Absent: hours that never come are not refused. */
  readonly nowMs?: number | undefined;
  readonly notAfter?: StatedTime | undefined;
  /** How long a window must stay open for a request. */
  readonly answerSeconds?: number;
  /** Knows whose rows come back in new files; absent where no new file is planned. */
  readonly owners?: RowOwners;
  /** Absent where the job has none, or where one may be missing. */
  readonly prices?: LoadedPrices | undefined;
  /** Takes what the rows cost; absent: one is made of the prices. */
  readonly costs?: CostTally | undefined;
  /** Who had which text before; absent where no one did. */
  readonly had?: HadLookup | undefined;
  /** Why a row that has an id is not sent though it could be: its first fact is that of another row. */
  readonly refuseTwin?: RowOwners['refuseTwin'] | undefined;
  /** The rows of a file that were planned before, by the index of the file; absent: they are read from it. */
  readonly readPlanned?: (index: number) => RecordReader;
}

interface StepPlanning {
  readonly step: RowStep;
  readonly number: number;
  readonly context: PlanStepContext;
  readonly planner: RowPlanner;
  readonly judge: RowJudge;
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
  const ofKind = kindOf(step);
  const planner = ofKind.createPlanner(step, planId, number);
  const findSuppressed = (e164: number) => suppression?.find(e164);
  const judge = createRowJudge(step, planner, { findSuppressed, had: context.had, describeRow });
  const { kind, limits } = step;
  const { where } = step.input;
  const chooser = createStageChooser(step);
  const callsPerRequest = ofKind.precondition?.isNeeded(step) === true ? 2 : 1;
  const about = { number, kind, planner, limits, chooser, callsPerRequest };
  const writer = await StepWriter.create(deps.files, directory, about);
  const reimported = context.owners && createReimportedRows({ kind, number }, context.owners, describeRow);
  const planning: StepPlanning = {
    step,
    number,
    context,
    planner,
    judge,
    writer,
    rows,
    reimported,
    costs: context.costs ?? (context.prices && createCostTally(step, context.prices.list)),
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
      const fault = context.owners && suppression?.refuseAudience(input);
      if (fault !== undefined) problems.add({ where: input.file.shown, ...fault });
    }
    if (planning.costs !== undefined) refuseMissingPrices(planning.costs, { number, kind }, context);
    const { nowMs, notAfter, answerSeconds = 0 } = context;
    if (problems.isEmpty && step.kind === 'sms' && step.window !== undefined && nowMs !== undefined) {
      for (const closed of listClosed(step.window, { groups: writer.groups, number, nowMs, notAfter, answerSeconds }))
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
  const { step, context, rows, writer, tally } = planning;
  const { deps, problems } = context;
  const { shown: file, path, format } = input.file;
  const reader = context.readPlanned?.(index) ?? deps.reader.readRecords(input.file, step.input, step);
  const binding = createColumnBinding(planning, reader, { mayGrow: format === 'ndjson' });
  const from = rows.next;
  rows.beginFile(file);
  const digest = createHash('sha256');
  // A row that is fixed may have the same cells: without the surplus ones, with a formula that was computed.
  const faults = createHash('sha256');
  tally.beginFile();
  await problems.gather(file, async () => {
    await reader.open();
    for await (const block of reader.blocks()) {
      assertNotInterrupted(deps);
      const { draftRow } = binding;
      digest.update(block.rows.cells);
      for (const [at, { code }] of block.rows.faults) faults.update(`${block.rows.rows[at]} ${code} `);
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
    binding.addProblems(file, problems, rows.next > from);
    const found = tally.endFile();
    // Rows that are re-imported were wrong before, each by itself.
    if (reader.ownColumns.length === 0) for (const fault of found) problems.add(fault);
    if (reader.sha256 !== input.sha256) {
      const hint = 'Run again when no process writes to it.';
      problems.add({ where: file, message: 'the file changed while it was read', hint });
    }
  });
  const { columns, notices, ownColumns } = reader;
  const { sha256, contentSha256, bytes } = input;
  const fedFrom = planning.reimported?.takeFiles() ?? [];
  // Re-imported rows are identified by their ids, in whatever file they stand; those of results have none.
  const haveIds = ownColumns.some((own) => own.includes(ID_COLUMN));
  return {
    file,
    path,
    sha256,
    contentSha256,
    // Names and cells in their order: the same in whatever encoding they are written, with whatever delimiter, and as NDJSON.
    rowsSha256: haveIds ? undefined : digest.update(JSON.stringify([columns, faults.digest('hex')])).digest('hex'),
    bytes,
    columns: [...columns],
    rows: rows.next - from,
    notices: [...notices, ...binding.notices],
    ...(fedFrom.length === 0 ? {} : { fedFrom }),
  };
}

function assertNotInterrupted({ signal }: PlanDeps): void {
  if (!signal.aborted) return;
  throw new UserError('interrupted', 'Cannot plan the job: it was interrupted', {
    hint: 'Nothing was sent. Run the same command again.',
  });
}

function planRow(row: DraftedRows, source: FileOfStep, planning: StepPlanning): void {
  const { index } = source;
  const { writer, tally, planner, judge, reimported } = planning;
  const { line, row: number, ownId } = row;
  const from = ownId === '' ? undefined : ownId;
  row.ordinal = planning.rows.take();
  const refusal = from === undefined ? refuseNew(row, source, planning) : refuseKnown(row, { from, index }, planning);
  if (refusal === undefined) {
    judge.note(row);
    if (from !== undefined) reimported?.noteTaken(from, row.ordinal);
    tally.addPlanned(row, planner, source.columns);
    writer.addPlanned({ file: index, line, row: number, from, costGroup: addCost(row, planning) }, row);
    return;
  }
  tally.addRefused(refusal, row, source);
  const isKept = refusal.kind === 'skipped' && isLeftOutCode(refusal.skip.code);
  if (isKept && from !== undefined) reimported?.noteTaken(from, row.ordinal);
  // A retry has all of its rows from another plan, whatever becomes of them; what another plan has, or a later file, counts there.
  const isElsewhere =
    refusal.kind === 'skipped' && (refusal.skip.code === 'retried' || refusal.skip.code === 'read-again');
  const isKnown = reimported === undefined || !isElsewhere;
  writer.addRefused({ file: index, line, row: number, from: isKnown ? from : undefined }, refusal, row);
}

/** Why a row without an id is not sent. */
function refuseNew(
  row: DraftedRows,
  { contentSha256 }: FileOfStep,
  { reimported, judge }: StepPlanning,
): RowRefusal | undefined {
  return reimported?.findComeBack(contentSha256, row.row) ?? judge.refuse(row);
}

/** Why a row that came with an id is not sent. */
function refuseKnown(
  row: DraftedRows,
  { from, index }: { from: string; index: number },
  { reimported, judge, context, number }: StepPlanning,
): RowRefusal | undefined {
  const refusal = (row.fault === undefined ? reimported?.check(from) : undefined) ?? judge.refuse(row);
  if (refusal?.kind === 'rejected') return reimported?.findLater(from, index) ?? refusal;
  // Rows of other runs are compared with those that these send.
  return refusal ?? context.refuseTwin?.(number, from, row.facts[0] ?? '');
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
  return {
    counts,
    ...told,
    ...cost,
    ...hours,
    stages: planned > 0 ? stages : undefined,
    estimateSeconds: Math.ceil(seconds),
    files,
  };
}
