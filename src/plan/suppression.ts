import type { Input } from '../job/job.js';
import { normalizeNumber } from '../normalize/number.js';
import { numberCodes } from '../normalize/number-codes.js';
import { createNumberSet, type NumberSet } from './dedupe.js';
import type { SuppressionInput } from './file.js';
import type { PlanDeps } from './ports.js';
import type { ProblemList } from './problems.js';
import type { DigestedInput } from './select.js';

const UNREADABLE_SHOWN = 5;

/**
 * Reads suppression lists. Every column in which at least half of the cells are valid numbers counts; in such a
 * column each cell that is not blank must be one. It fails closed: a list that is empty, holds no such column or a
 * number that cannot be read refuses the plan, because a number missed here is a message to somebody who opted out.
 */
export async function loadSuppression(
  lists: readonly DigestedInput[],
  input: Input,
  context: { deps: PlanDeps; problems: ProblemList },
): Promise<{ numbers: NumberSet; inputs: SuppressionInput[] }> {
  const numbers = createNumberSet();
  const inputs: SuppressionInput[] = [];
  for (const list of lists) {
    const { path, shown: file } = list.file;
    const before = numbers.size;
    await context.problems.gather(file, () => loadList(list, input, { ...context, numbers }));
    inputs.push({ file, path, sha256: list.sha256, numbers: numbers.size - before });
  }
  return { numbers, inputs };
}

async function loadList(
  list: DigestedInput,
  input: Input,
  { deps, problems, numbers }: { deps: PlanDeps; problems: ProblemList; numbers: NumberSet },
): Promise<void> {
  const { shown } = list.file;
  const reader = deps.reader.readRecords(list.file, input);
  await reader.open();
  const headless = reader.columns.find((name) => normalizeNumber(name, input.country).ok);
  if (headless !== undefined) {
    problems.add({
      where: `${shown}:1`,
      message: 'the first line is a number, expected a header',
      hint: 'Put a line with the name of the column above it.',
    });
    return;
  }
  const columns: ColumnCells[] = [];
  for await (const batch of reader.batches()) {
    for (const record of batch) {
      if (record.fault !== undefined)
        problems.add({ where: `${shown}:${record.line}`, message: `a row that cannot be read (${record.fault.code})` });
      for (const [index, cell] of record.cells.entries()) {
        columns[index] ??= { valid: [], unreadable: 0, places: [] };
        takeCell(columns[index], cell ?? '', record.line, input.country);
      }
    }
  }
  const counting = columns.filter((column) => column.valid.length > 0 && column.valid.length >= column.unreadable);
  if (counting.length === 0) {
    problems.add({
      where: shown,
      message: 'the suppression list holds no column of numbers, expected at least one number',
      hint: 'If nobody is to be left out, take the list out of the job.',
    });
  }
  for (const column of counting) {
    for (const e164 of column.valid) numbers.add(e164, 0);
    for (const { line, reason } of column.places)
      problems.add({
        where: `${shown}:${line}`,
        message: `the suppression list holds a number that cannot be read: ${reason}`,
      });
    const more = column.unreadable - column.places.length;
    if (more > 0) problems.add({ where: shown, message: `and ${more} more numbers that cannot be read` });
  }
  if (reader.sha256 !== list.sha256) problems.add({ where: shown, message: 'the file changed while it was read' });
}

interface ColumnCells {
  readonly valid: string[];
  unreadable: number;
  readonly places: { line: number; reason: string }[];
}

function takeCell(column: ColumnCells, cell: string, line: number, country: string | undefined): void {
  if (cell.trim() === '') return;
  const number = normalizeNumber(cell, country);
  if (number.ok) {
    column.valid.push(number.e164);
    return;
  }
  column.unreadable += 1;
  if (column.places.length < UNREADABLE_SHOWN) column.places.push({ line, reason: numberCodes[number.code] });
}
