import type { Problem } from '../../domain/errors.js';
import { findNumbered } from '../../input/repeated-names.js';
import type { Input } from '../../job/job.js';
import { normalizeNumber } from '../../normalize/number/number.js';
import { createNumberSet, type NumberSet } from '../../normalize/number/number-set.js';
import { describeNumbered } from '../columns/bind-columns.js';
import type { SuppressionInput } from '../format/plan-file.js';
import type { DigestedInput } from '../inputs/select-inputs.js';
import type { PlanDeps } from '../plan-deps.js';
import type { ProblemList } from '../problems.js';
import { type SuppressionColumn, SuppressionColumns } from './suppression-columns.js';

interface ListDeps {
  readonly reader: Pick<PlanDeps['reader'], 'readRecords' | 'findColumn'>;
}

/**
 * Reads suppression lists. A column counts when at least half of its cells are valid numbers, or any was one before it
 * was damaged; in such a column each cell that is not blank must be a number. It fails closed: a list that is empty,
 * holds no such column or a number that cannot be read refuses the plan, because a missed number is a message to a
 * person who opted out.
 */
export async function loadSuppression(
  lists: readonly DigestedInput[],
  input: Input,
  context: { deps: ListDeps; problems: ProblemList },
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
  { deps, problems, numbers }: { deps: ListDeps; problems: ProblemList; numbers: NumberSet },
): Promise<void> {
  const { shown } = list.file;
  const reader = deps.reader.readRecords(list.file, input);
  await reader.open();
  const fault = findHeaderFault(reader.columns, shown, input);
  if (fault !== undefined) {
    await reader.close();
    problems.add(fault);
    return;
  }
  const { countryColumn } = input;
  const countryIndex =
    countryColumn === undefined ? -1 : (deps.reader.findColumn(reader.columns, countryColumn)?.index ?? -1);
  const columns = new SuppressionColumns();
  for await (const batch of reader.batches()) {
    for (const record of batch) {
      const { fault, line, cells } = record;
      if (fault !== undefined) {
        problems.add({ where: `${shown}:${line}`, message: `a row that cannot be read (${fault.code})` });
      }
      columns.add(record, cells[countryIndex]?.trim() || input.country, reader.columns);
    }
  }
  const { counting } = columns;
  if (counting.length === 0) {
    problems.add({
      where: shown,
      message: 'the suppression list holds no column of numbers, expected at least one number',
      hint: 'If no one is to be suppressed, remove the list from the job.',
    });
  }
  for (const column of counting) {
    for (const e164 of column.valid) numbers.add(e164, 0);
    addUnreadable(column, shown, problems);
  }
  if (reader.sha256 !== list.sha256) problems.add({ where: shown, message: 'the file changed while it was read' });
}

/** Faults that the header alone shows: no header, or no such country column. */
export function findHeaderFault(columns: readonly string[], shown: string, input: Input): Problem | undefined {
  const where = `${shown}:1`;
  if (columns.some((name) => isNumberLike(name, input.country))) {
    const hint = 'Put a line with the name of the column above it.';
    return { where, message: 'the first line is a number, expected a header', hint };
  }
  const { countryColumn } = input;
  const numbered = countryColumn === undefined ? [] : findNumbered(columns, countryColumn);
  return numbered.length === 0 ? undefined : { where, ...describeNumbered(countryColumn ?? '', numbered) };
}

/** A list without a country setting takes that of the input. */
export function inheritCountry(list: Input, input: Input): Input {
  return list.country === undefined && list.countryColumn === undefined ? { ...list, country: input.country } : list;
}

function addUnreadable({ places, unreadable }: SuppressionColumn, shown: string, problems: ProblemList): void {
  for (const { line, reason } of places) {
    const message = `the suppression list holds a number that cannot be read: ${reason}`;
    problems.add({ where: `${shown}:${line}`, message });
  }
  const more = unreadable - places.length;
  if (more > 0) problems.add({ where: shown, message: `and ${more} more numbers that cannot be read` });
}

/** A number, possibly damaged: no header has seven digits and no letter. */
function isNumberLike(name: string, country: string | undefined): boolean {
  const digits = name.replace(/E[+-]?\d+$/i, '');
  return normalizeNumber(name, country).ok || (!/\p{L}/u.test(digits) && (name.match(/\d/g)?.length ?? 0) >= 7);
}
