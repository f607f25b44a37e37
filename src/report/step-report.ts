import { join } from 'node:path';
import type { RowOutcomes, RowVerdict } from '../domain/row.js';
import { type RowStep, rowStepOf } from '../job/job.js';
import { JournalWindow } from '../journal/reader.js';
import type { OutcomePlace, RowStatusView } from '../journal/row-status/row-status-view.js';
import { kindOf } from '../kinds/kinds.js';
import type { RowOutcome } from '../kinds/step-kind.js';
import { JOURNAL_FILE, type PlanAt, type PlannedStep } from '../plan/format/plan-file.js';
import { assertPlanWhole, type PlannedRowLine, readRowBatches } from '../plan/format/planned-files.js';
import type { RowLine } from '../plan/format/row-line.js';
import { createNaming } from '../plan/reimport/named-rows.js';
import { AcceptedCost, type StepCostSummary } from '../prices/billed-tally.js';
import type { Files } from '../storage/files.js';
import { escapeServiceText, OUTPUT_OF, type RowStanding } from './rows.js';
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
  const outputs = await StepOutputs.create(files, source, kindOf(rowStepOf(plan.job, planned.number)).resultColumns);
  const cost = planned.cost && new AcceptedCost(planned.cost);
  try {
    for await (const batch of readReported(files, source)) {
      for (const { row, standing } of batch) {
        outputs.add(row, standing);
        if (row.state === 'planned' && standing.output === 'results') cost?.add(row.costGroup);
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

/** The rows of a step in their order, in batches, each with the output that it stands in. */
export async function* readReported(files: Files, source: ReportedStep): AsyncGenerator<ReportedRow[]> {
  const { plan, planned, directory } = source;
  const journal = new JournalWindow(files, join(directory, JOURNAL_FILE));
  const describe = createDescription(source, rowStepOf(plan.job, planned.number));
  let request = 0;
  let outcomes: readonly PlacedOutcomes[] = [];
  try {
    for await (const batch of readRowBatches(files, directory, planned)) {
      const reported: ReportedRow[] = [];
      for (const row of batch) {
        // The rows of a request stand together: to await each of a million takes longer than what is awaited.
        if (row.state === 'planned' && row.request !== request) {
          request = row.request;
          outcomes = await readOutcomes(journal, source.rows.outcomesOf(planned.number, request));
        }
        reported.push({ row, standing: describe(row, outcomes) });
      }
      yield reported;
    }
  } finally {
    await journal.close();
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

export interface ReportedRow {
  readonly row: RowLine;
  readonly standing: RowStanding;
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
    // Results have none, and there are many.
    const said = output === 'results' ? '' : escapeServiceText(reason);
    return { output, stage: 'send', field: '', code, reason: said, id: idOf(row), resultCells };
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
