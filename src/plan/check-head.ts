import { countOf, format } from '../domain/count-of.js';
import { cellsOf } from '../domain/row.js';
import { numbersOf } from '../filter/compile-country-test.js';
import { createRowPlanner } from '../filter/filter-rows.js';
import { FilterTally } from '../filter/filter-tally.js';
import type { InputFile } from '../input/inputs.js';
import type { InputRecord, RecordReader } from '../input/record-reader.js';
import type { RowStep } from '../job/job.js';
import type { PlannerContext, RowPlan } from '../kinds/step-kind.js';
import { ColumnBinding } from './columns/bind-columns.js';
import type { InputReader } from './plan-deps.js';
import type { ProblemList } from './problems.js';
import { findRefusal } from './reimport/own-outputs.js';

export interface InputHead {
  /** It has no more rows than were looked at. */
  readonly isWhole: boolean;
  /** Of their recipients. */
  readonly countries: readonly string[];
  /** That most of the first rows have a number that no country is named for, or a cell that `where` cannot compare; what its funnel warns of. */
  readonly notices: readonly string[];
}

/**
 * Checks the beginning of a file as planning would: its encoding and format, its header or first lines, and the
 * columns that the step names. Later lines of NDJSON may add keys, so there a column is missing only from a file seen
 * whole.
 */
export async function checkInputHead(
  file: InputFile,
  { step, number, findSuppressed }: { step: RowStep; number: number } & Pick<PlannerContext, 'findSuppressed'>,
  { reader, problems }: { reader: Omit<InputReader, 'spoolStandardInput'>; problems: ProblemList },
): Promise<InputHead | undefined> {
  const records = reader.readRecords(file, step.input);
  const mayGrow = file.format === 'ndjson';
  const planner = createRowPlanner(step, {
    planId: 'check',
    step: number,
    findColumn: reader.findColumn,
    findSuppressed,
    describeRow: String,
  });
  return problems.gather(file.shown, async () => {
    const { first, isWhole } = await readHead(records);
    for (const own of records.ownColumns) {
      const refusal = findRefusal(own, step.kind);
      if (refusal !== undefined) problems.add({ where: file.shown, ...refusal });
    }
    const binding = new ColumnBinding(planner, records, { step: number, mayGrow });
    if (isWhole || !mayGrow) binding.addProblems(file.shown, problems);
    const rows = first.filter(({ fault }) => fault === undefined);
    const plans = binding.rows === undefined ? [] : rows.map((record, at) => binding.rows?.(record, at, at));
    const countries = plans.flatMap((plan) => (plan?.kind === 'planned' && plan.row.country) || []);
    return {
      isWhole,
      countries,
      notices: [...explainRejected(file.shown, plans), ...listWarnings({ rows, plans, records }, step, reader)],
    };
  });
}

/** What the funnel of a plan warns of, as far as the first rows show it. */
function listWarnings(
  {
    rows,
    plans,
    records,
  }: { rows: readonly InputRecord[]; plans: readonly (RowPlan | undefined)[]; records: RecordReader },
  step: RowStep,
  { findColumn }: Pick<InputReader, 'findColumn'>,
): string[] {
  const { where } = step.input;
  if (where === undefined) return [];
  const tally = new FilterTally(where, { findColumn, numbers: numbersOf(step) });
  for (const [at, plan] of plans.entries()) {
    const record = rows[at];
    if (record === undefined || plan === undefined) continue;
    const cells = cellsOf(record.cells);
    if (plan.kind === 'planned') tally.addKept(cells, records.columns);
    else if (plan.kind === 'skipped' && plan.skip.code === 'filtered')
      tally.add(plan.skip.reason, cells, records.columns);
  }
  return tally.figures().flatMap(({ warning }) => warning ?? []);
}

/** Why most of the first rows would be rejected, where the job can be changed so that they are not. */
function explainRejected(shown: string, plans: readonly (RowPlan | undefined)[]): string[] {
  const rejections = plans.flatMap((plan) => (plan?.kind === 'rejected' ? [plan.rejection] : []));
  return (['no-country', 'bad-filter-value'] as const).flatMap((code) => {
    const [first, ...others] = rejections.filter((each) => each.code === code);
    if (first === undefined || (others.length + 1) * 2 <= plans.length) return [];
    const many = `${shown}: ${format(others.length + 1)} of the first ${countOf(plans.length, 'row')}`;
    return code === 'no-country'
      ? `${many} have a number without + and no country, and would be rejected (no-country): name it with input.country`
      : `${many} would be rejected (${code}): ${first.reason}`;
  });
}

/** Reads a thousand rows at most; `isWhole`: that was all. */
async function readHead(records: RecordReader): Promise<{ first: readonly InputRecord[]; isWhole: boolean }> {
  await records.open();
  const batches = records.batches()[Symbol.asyncIterator]();
  try {
    const first = await batches.next();
    if (first.done === true) return { first: [], isWhole: true };
    return { first: first.value, isWhole: (await batches.next()).done === true };
  } finally {
    await batches.return?.();
  }
}
