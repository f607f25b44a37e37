import { createRowPlanner } from '../filter/filter-rows.js';
import type { InputFile } from '../input/inputs.js';
import type { RecordReader } from '../input/record-reader.js';
import type { Input, RowStep } from '../job/job.js';
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
 * whole.
 */
export async function checkInputHead(
  file: InputFile,
  { step, number }: { step: RowStep; number: number },
  { reader, problems }: HeadContext,
): Promise<void> {
  const records = reader.readRecords(file, step.input);
  const mayGrow = file.format === 'ndjson';
  const planner = createRowPlanner(step, {
    planId: 'check',
    step: number,
    findColumn: reader.findColumn,
    isSuppressed: () => false,
    describeRow: String,
  });
  await problems.gather(file.shown, async () => {
    const isWhole = await readHead(records);
    for (const own of records.ownColumns) {
      const refusal = findRefusal(own, step.kind);
      if (refusal !== undefined) problems.add({ where: file.shown, ...refusal });
    }
    if (isWhole || !mayGrow)
      new ColumnBinding(planner, records, { step: number, mayGrow }).addProblems(file.shown, problems);
  });
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
    if (await readHead(records)) {
      const digested = { file, ...(await digestFile(file.path, { reader })) };
      await loadSuppression([digested], read, { deps: { reader }, problems });
    } else {
      const fault = findHeaderFault(records.columns, file.shown, read);
      if (fault !== undefined) problems.add(fault);
    }
  });
}

/** Reads a thousand rows at most; whether that was all. */
async function readHead(records: RecordReader): Promise<boolean> {
  await records.open();
  const batches = records.batches()[Symbol.asyncIterator]();
  try {
    const first = await batches.next();
    return first.done === true || (await batches.next()).done === true;
  } finally {
    await batches.return?.();
  }
}
