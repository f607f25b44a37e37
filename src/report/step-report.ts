import { join } from 'node:path';
import { TextBuffer } from '../domain/bytes/text-buffer.js';
import { closing } from '../domain/closing.js';
import type { RowOutcomes, RowVerdict } from '../domain/row.js';
import { type RowStep, rowStepOf } from '../job/job.js';
import { createJournalWindow, type JournalWindow } from '../journal/reader.js';
import type { OutcomePlace, RowStatusView } from '../journal/row-status-view.js';
import { kindOf } from '../kinds/kinds.js';
import type { RowOutcome } from '../kinds/step-kind.js';
import { maskNumbers } from '../normalize/mask.js';
import { spreadCells } from '../plan/bind-columns.js';
import { JOURNAL_FILE, type PlanAt, type PlannedStep } from '../plan/format/plan-file.js';
import { assertPlanWhole, type PlannedRowLine, readRowBatches } from '../plan/format/planned-files.js';
import type { RowLine } from '../plan/format/row-line.js';
import { describeExample, describeExpected, ReasonTally } from '../plan/reasons.js';
import { createNaming } from '../plan/reimport/named-rows.js';
import { createAcceptedCost } from '../prices/billed-tally.js';
import type { Files, WholeFile } from '../storage/files.js';
import { createLineFormat, createOutputFile, type LineFormat } from './output-format.js';
import {
  EXPLAINED_OUTPUTS,
  type ExplainedOutput,
  escapeServiceText,
  LISTED_OUTPUTS,
  OUTPUT_OF,
  OUTPUTS,
  type Output,
  outputCells,
  outputColumns,
  type RowStanding,
} from './outputs.js';
import { emptyBalance } from './summary.js';

/** For results: the service's message about the row. */
const WORDS_COLUMN = '_description';

/**
 * Streams the rows of a step in their order, joins each with its outcome, and writes the step's five outputs, which get their
 * names whole, or never.
 */
export async function writeStepReport(files: Files, source: ReportedStep) {
  const { plan, planned, directory } = source;
  const outputs = await openStepOutputs(files, source, kindOf(rowStepOf(plan.job, planned.number)).resultColumns);
  const cost = planned.cost && createAcceptedCost(planned.cost);
  try {
    const add = (row: RowLine, standing: RowStanding) => {
      outputs.add(row, standing);
      if (row.state === 'planned' && standing.output === 'results') cost?.add(row.costGroup);
    };
    for await (const _batch of readReported(files, source, add)) if (outputs.isFull) await outputs.flush();
    return { ...(await outputs.finish()), cost: cost?.figures() };
  } catch (error) {
    await outputs.discard();
    // A mismatch is not a bug if the rows file differs from the plan.
    await assertPlanWhole(files, directory, { steps: [planned] });
    throw error;
  }
}

/** Visits the rows of a step in their order, each with the output that it stands in, and gives way after each batch. */
export async function* readReported(
  files: Files,
  source: ReportedStep,
  visit: (row: RowLine, standing: RowStanding) => void,
): AsyncGenerator<void> {
  const { plan, planned, directory } = source;
  await using journal = closing(createJournalWindow(files, join(directory, JOURNAL_FILE)));
  const describe = createDescription(source, rowStepOf(plan.job, planned.number));
  let request = 0;
  let outcomes: readonly PlacedOutcomes[] = [];
  for await (const batch of readRowBatches(files, directory, planned)) {
    for (const row of batch) {
      // The rows of a request stand together: to await each of a million takes longer than what is awaited.
      if (row.state === 'planned' && row.request !== request) {
        request = row.request;
        outcomes = await readOutcomes(journal, source.rows.outcomesOf(planned.number, request));
      }
      visit(row, describe(row, outcomes));
    }
    yield;
  }
}

/** What a request, or a part of one, came to; and its first planned row. */
interface PlacedOutcomes {
  readonly first: number;
  readonly outcomes: RowOutcomes;
}

async function readOutcomes(journal: JournalWindow, places: readonly OutcomePlace[]): Promise<PlacedOutcomes[]> {
  const read: PlacedOutcomes[] = [];
  for (const { first, offset } of places) read.push({ first, outcomes: await journal.readOutcomes(offset) });
  return read;
}

interface ReportedStep extends PlanAt {
  readonly planned: PlannedStep;
  readonly rows: RowStatusView;
}

/** What the outputs say of each row of a step, to be called for all of them in their order, with what its request came to. */
function createDescription({ plan, planned, rows }: ReportedStep, step: RowStep) {
  const { number } = planned;
  const kind = kindOf(step);
  const isRepeatable = kind.isRepeatable(step);
  const wordsAt = kind.resultColumns.indexOf(WORDS_COLUMN);
  const escapeWords = createWordsEscape();
  const idOf = createNaming(plan, planned);
  let next = 0;

  /** What was answered for a row; undefined where nothing was. `decided`: its verdict, where no answer says it. */
  const findOutcome = (
    row: number,
    placed: readonly PlacedOutcomes[],
    decided?: RowVerdict,
  ): RowOutcome | undefined => {
    if (decided?.status === 'not-sent') return undefined;
    for (const { first, outcomes } of placed) {
      const given = outcomes.rows[row - first];
      if (given === undefined) continue;
      const [index, ...ids] = given;
      const verdict = decided ?? outcomes.verdicts[index];
      if (verdict !== undefined) return { verdict, ids: rows.settledIds(number, row) ?? ids, shared: outcomes.shared };
    }
    return undefined;
  };

  const describePlanned = (row: PlannedRowLine, placed: readonly PlacedOutcomes[]): RowStanding => {
    const { facts } = row;
    const index = next++;
    const decided = rows.endOf(number, index)?.decided;
    const outcome = findOutcome(index, placed, decided);
    const verdict = outcome?.verdict ?? decided ?? rows.openVerdictOf(number, index, isRepeatable);
    const retriedBy = rows.movedTo(number, index);
    if (retriedBy !== undefined) {
      const reason = `Claimed by plan ${retriedBy}, which reports what became of it`;
      return { ...REFUSED, output: 'skipped', code: 'retried', reason };
    }
    const cells = kind.resultCells({ planId: plan.id, step: number, index, facts }, outcome);
    const words = cells[wordsAt] ?? '';
    const escaped = escapeWords(words);
    const resultCells = escaped === words ? cells : cells.with(wordsAt, escaped);
    const { status, code, reason } = verdict ?? { status: 'unprocessed', code: '', reason: '' };
    const output = OUTPUT_OF[status];
    // Results have neither, and there are many.
    const [said, id] = output === 'results' ? ['', ''] : [escapeServiceText(reason), idOf(row)];
    return { output, stage: 'send', field: '', code, reason: said, id, resultCells };
  };

  return (row: RowLine, placed: readonly PlacedOutcomes[]): RowStanding => {
    if (row.state === 'planned') return describePlanned(row, placed);
    if (row.state === 'skipped') return { ...REFUSED, output: 'skipped', ...row.skip };
    return { ...REFUSED, output: 'rejections', ...row.rejection, id: idOf(row) };
  };
}

/** A row without a request. */
const REFUSED = { stage: 'send', field: '', id: '', resultCells: [] } as const;

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

const FLUSH_BYTES = 1 << 18;

interface OutputWriter {
  readonly file: WholeFile;
  readonly name: string;
  readonly format: LineFormat;
  readonly text: TextBuffer;
  /** Which columns of the step stand in it; undefined where all do. */
  readonly kept: readonly number[] | undefined;
}

/** The five output files of a step, written under temporary names until complete. */
async function openStepOutputs(
  files: Files,
  { plan, planned, directory }: ReportedStep,
  resultColumns: readonly string[],
) {
  const { number, kind, columns, inputs } = planned;
  const { format } = plan.job.output;
  const open = async (output: Output): Promise<OutputWriter> => {
    const name = `${number}-${kind}.${output}.${format}`;
    const { columns: all, kept } = outputColumns(output, resultColumns, columns);
    const lines = createLineFormat(plan.job.output, all);
    const file = await createOutputFile(files, join(directory, name), plan.job.output);
    const text = new TextBuffer();
    text.append(lines.header);
    return { file, name, format: lines, text, kept: kept.length === columns.length ? undefined : kept };
  };
  const opened: [Output, OutputWriter][] = [];
  const discard = () => Promise.allSettled(opened.map(([, { file }]) => file.discard()));
  try {
    for (const output of LISTED_OUTPUTS) opened.push([output, await open(output)]);
  } catch (error) {
    await discard();
    throw error;
  }
  const writers = Object.fromEntries(opened) as Record<Output, OutputWriter>;
  const balance = emptyBalance();
  const tallies = forEachExplained(() => new ReasonTally());

  const addReason = (row: RowLine, tally: ReasonTally, { stage, field, code, reason }: RowStanding) => {
    // Not reached yet.
    if (code === '') return;
    tally.add(code, () => {
      const { file = '', path = '', columns = [] } = inputs[row.file] ?? {};
      const { line, row: number, cells } = row;
      const example = describeExample({ file, path, line, row: number, columns, cells }, { code, field });
      return { said: stage === 'send' ? maskNumbers(reason) : describeExpected(code, reason), example };
    });
  };
  /** The row's cells in the order of the step's columns: the files of a step may have different ones. */
  const spread = (row: RowLine): RowLine['cells'] => {
    const map = inputs[row.file]?.columnMap ?? [];
    if (row.cells.length === columns.length && map.every((column, index) => column === index)) return row.cells;
    return spreadCells(row.cells, map, columns.length);
  };
  const flush = async () => {
    for (const { text, file } of Object.values(writers)) await text.flush((bytes) => file.write(bytes));
  };
  return {
    add(row: RowLine, standing: RowStanding): void {
      const { output } = standing;
      balance.read += 1;
      balance[OUTPUTS[output].counted] += 1;
      if (output !== 'results' && output !== 'skipped') addReason(row, tallies[output], standing);
      const writer = writers[output];
      const place = [number, inputs[row.file]?.file ?? '', row.line, row.row] as const;
      const all = spread(row);
      const cells = writer.kept?.map((index) => all[index]) ?? all;
      writer.text.append(writer.format.line(outputCells(standing, place, cells)));
    },
    get isFull(): boolean {
      return LISTED_OUTPUTS.some((output) => writers[output].text.length >= FLUSH_BYTES);
    },
    flush,
    async finish() {
      await flush();
      const names: Partial<Record<Output, string>> = {};
      for (const output of LISTED_OUTPUTS) {
        await writers[output].file.finish();
        names[output] = writers[output].name;
      }
      const codes = forEachExplained((output) => tallies[output].counts());
      const reasons = EXPLAINED_OUTPUTS.flatMap((output) =>
        tallies[output].list().map((each) => ({ output, ...each })),
      );
      return { balance, codes, reasons, files: names };
    },
    discard,
  };
}

function forEachExplained<T>(make: (output: ExplainedOutput) => T): Record<ExplainedOutput, T> {
  return Object.fromEntries(EXPLAINED_OUTPUTS.map((output) => [output, make(output)])) as Record<ExplainedOutput, T>;
}
