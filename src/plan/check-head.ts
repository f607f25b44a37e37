import { countOf, format } from '../domain/count-of.js';
import { createRowPlanner } from '../filter/filter-rows.js';
import type { InputFile } from '../input/inputs.js';
import type { InputRecord, RecordReader } from '../input/record-reader.js';
import type { Input, RowStep } from '../job/job.js';
import type { RowReader } from '../kinds/step-kind.js';
import { ColumnBinding } from './columns/bind-columns.js';
import { digestFile } from './inputs/select-inputs.js';
import type { InputReader } from './plan-deps.js';
import type { ProblemList } from './problems.js';
import { findRefusal } from './reimport/own-outputs.js';
import { findHeaderFault, inheritCountry, loadSuppression } from './suppress/suppression.js';

interface HeadContext {
  readonly reader: Omit<InputReader, 'spoolStandardInput'>;
  readonly problems: ProblemList;
}

/**
 * Checks the beginning of a file as planning would: its encoding and format, its header or first lines, and the
 * columns that the step names. Later lines of NDJSON may add keys, so there a column is missing only from a file seen
 * whole. Gives a notice where most of the first rows have a number that no country is named for.
 */
export async function checkInputHead(
  file: InputFile,
  { step, number }: { step: RowStep; number: number },
  { reader, problems }: HeadContext,
): Promise<string | undefined> {
  const records = reader.readRecords(file, step.input);
  const mayGrow = file.format === 'ndjson';
  const planner = createRowPlanner(step, {
    planId: 'check',
    step: number,
    findColumn: reader.findColumn,
    isSuppressed: () => false,
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
    return explainNoCountry(file.shown, first, binding.rows);
  });
}

function explainNoCountry(
  shown: string,
  records: readonly InputRecord[],
  read: RowReader | undefined,
): string | undefined {
  const rows = records.filter(({ fault }) => fault === undefined);
  const plans = read === undefined ? [] : rows.map((record, at) => read(record, at, at));
  const lacking = plans.filter((plan) => plan.kind === 'rejected' && plan.rejection.code === 'no-country').length;
  if (lacking * 2 <= plans.length) return undefined;
  const many = `${format(lacking)} of the first ${countOf(plans.length, 'row')}`;
  return `${shown}: ${many} have a number without + and no country, and would be rejected (no-country): name it with input.country`;
}

/** The same for a suppression list; a short one, seen whole, is read as planning reads it. */
export async function checkListHead(
  file: InputFile,
  { list, input }: { list: Input; input: Input },
  { reader, problems }: HeadContext,
): Promise<void> {
  const read = inheritCountry(list, input);
  await problems.gather(file.shown, async () => {
    const records = reader.readRecords(file, read);
    if ((await readHead(records)).isWhole) {
      const digested = { file, ...(await digestFile(file.path, { reader })) };
      await loadSuppression([digested], read, { deps: { reader }, problems });
    } else {
      const fault = findHeaderFault(records.columns, file.shown, read);
      if (fault !== undefined) problems.add(fault);
    }
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
