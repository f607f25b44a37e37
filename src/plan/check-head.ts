import { countOf, format } from '../domain/count-of.js';
import type { Rejection } from '../domain/row.js';
import { wordsOf } from '../domain/row-codes.js';
import { numbersOf } from '../filter/compile-test.js';
import { FilterTally } from '../filter/filter-tally.js';
import type { InputFile } from '../input/inputs.js';
import type { ReadBlock, RecordReader } from '../input/record-reader.js';
import type { RowStep } from '../job/job.js';
import { createRowJudge, type JudgeContext, type RowJudge } from '../kinds/row-judge.js';
import { createColumnBinding } from './bind-columns.js';
import { DraftedRows } from './format/row-line.js';
import type { InputReader } from './plan-deps.js';
import type { ProblemList } from './problems.js';
import { findRefusal } from './reimport/reimported-rows.js';

export interface InputHead {
  /** It has no more rows than were looked at. */
  readonly isWhole: boolean;
  readonly countries: readonly string[];
  /** How it was read, as the plan has it. */
  readonly readAs: readonly string[];
  /** Says where most of the first rows would be rejected, and why, and what the funnel of `where` warns of. */
  readonly notices: readonly string[];
}

/**
 * Checks the beginning of a file as planning would: its encoding and format, its header or first lines, and the
 * columns that the step names. Later lines of NDJSON may add keys, so there a column is missing only from a file seen
 * whole.
 */
export async function checkInputHead(
  file: InputFile,
  { step, number, findSuppressed }: { step: RowStep; number: number } & Pick<JudgeContext, 'findSuppressed'>,
  { reader, problems }: { reader: Omit<InputReader, 'spoolStandardInput'>; problems: ProblemList },
): Promise<InputHead | undefined> {
  const records = reader.readRecords(file, step.input);
  const mayGrow = file.format === 'ndjson';
  const judge = createRowJudge(step, {}, { findSuppressed, describeRow: String });
  return problems.gather(file.shown, async () => {
    const { first, isWhole } = await readHead(records);
    for (const own of records.ownColumns) {
      const refusal = findRefusal(own, step.kind);
      if (refusal !== undefined) problems.add({ where: file.shown, ...refusal });
    }
    const binding = createColumnBinding({ step, number }, records, { mayGrow });
    if (isWhole || !mayGrow) binding.addProblems(file.shown, problems, first !== undefined);
    const { where } = step.input;
    const tally = where && new FilterTally(where, numbersOf(step));
    const { draftRow } = binding;
    const row = first && draftRow && new DraftedRows(first, draftRow);
    const { countries, rejections, rows } = judgeRows(row, { judge, tally, columns: records.columns });
    const warnings = (tally?.figures() ?? []).flatMap(({ warning }) => warning ?? []);
    const readAs = [...records.notices, ...binding.notices];
    return { isWhole, countries, readAs, notices: [...explainRejected(file.shown, rejections, rows), ...warnings] };
  });
}

/** What would become of the first rows, those aside that cannot be read; `tally` counts what the funnel of a plan warns of. */
function judgeRows(
  row: DraftedRows | undefined,
  { judge, tally, columns }: { judge: RowJudge; tally: FilterTally | undefined; columns: readonly string[] },
): { countries: string[]; rejections: Rejection[]; rows: number } {
  const found = { countries: [] as string[], rejections: [] as Rejection[], rows: 0 };
  for (; row !== undefined && row.index < row.count; row.index += 1) {
    if (row.fault !== undefined) continue;
    row.ordinal = found.rows;
    found.rows += 1;
    const refusal = judge.refuse(row);
    if (refusal === undefined) {
      if (row.country !== undefined) found.countries.push(row.country);
      tally?.addKept(row.cells, columns);
    } else if (refusal.kind === 'rejected') found.rejections.push(refusal.rejection);
    else if (refusal.skip.code === 'filtered') tally?.add(refusal.skip.reason, row.cells, columns);
  }
  return found;
}

/** Why most of the first rows would be rejected, where one reason is that of most. */
function explainRejected(shown: string, rejections: readonly Rejection[], rows: number): string[] {
  return [...new Set(rejections.map(({ code }) => code))].flatMap((code) => {
    const [first, ...others] = rejections.filter((each) => each.code === code);
    if (first === undefined || (others.length + 1) * 2 <= rows) return [];
    const many = `${shown}: ${format(others.length + 1)} of the first ${countOf(rows, 'row')}`;
    if (code === 'no-country')
      return `${many} have a number without + and no country, and would be rejected (no-country): name it with input.country`;
    const { is, fix } = wordsOf(code, first.reason);
    // The reason of a number may name what it probably is.
    const why = code === 'bad-filter-value' ? first.reason : [is, ...(fix === '' ? [] : [fix])].join('; ');
    return `${many} would be rejected (${code}): ${why}`;
  });
}

/** Reads a thousand rows at most; `isWhole`: that was all. */
async function readHead(records: RecordReader): Promise<{ first: ReadBlock | undefined; isWhole: boolean }> {
  await records.open();
  let first: ReadBlock | undefined;
  for await (const block of records.blocks()) {
    if (first !== undefined) return { first, isWhole: false };
    first = block;
  }
  return { first, isWhole: true };
}
