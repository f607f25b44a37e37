import type { Rejection, RowCells } from '../domain/row.js';
import type { CellTest, Condition, Where } from '../domain/where.js';
import type { RowRefusal } from '../kinds/step-kind.js';
import type { Columns } from '../normalize/columns.js';
import { normalizeCountry } from '../normalize/country.js';
import { maskCell } from '../normalize/mask.js';
import { compileCountryTest, type StepNumbers } from './compile-country-test.js';
import { compileTest } from './compile-test.js';
import { describeCondition } from './describe-condition.js';
import { type CellAnswer, type CompiledTest, NO, UNREADABLE, YES } from './read-cell.js';

/** Says of the rows of one file why they do not take part; undefined of those that do. */
export interface RowFilter {
  refuse(cells: RowCells): RowRefusal | undefined;
}

/**
 * Binds a `where` to the columns of a file; `numbers` are those of the step. A row takes part if all conditions of one group hold, is omitted if in
 * each group one does not, and is rejected if that is undecidable: where a cell that decides it cannot be compared.
 */
export function bindWhere(where: Where, columns: Columns, numbers: StepNumbers): RowFilter {
  const destination = columns.look(numbers.column);
  const countryIndex = columns.look(numbers.countryColumn);
  const compile = (test: CellTest, index: number) =>
    'as' in test
      ? compileCountryTest(
          test,
          { index, countryIndex, country: numbers.country },
          { isDestination: index === destination },
        )
      : compileTest(test);
  const groups = where.map((group, index) =>
    group.map((condition): BoundCondition => {
      const at = ['input', 'where', ...(where.length === 1 ? [] : [index]), condition.column];
      const place = columns.find(condition.column, 'input.where', { at, advice: adviseCountry(condition, numbers) });
      return bindCondition(condition, { index: place, tests: condition.tests.map((test) => compile(test, place)) });
    }),
  );
  const [only, ...others] = groups;
  if (only === undefined) throw new Error('A where without a group lets no row pass');
  return { refuse: others.length === 0 ? refuseByGroup(only) : refuseByGroups(groups) };
}

interface BoundCondition {
  readonly index: number;
  readonly tests: readonly CompiledTest[];
  readonly clause: string;
  readonly omitted: RowRefusal;
  readonly reject: (cell: string) => RowRefusal;
}

type Refuse = RowFilter['refuse'];

function bindCondition(
  condition: Condition,
  { index, tests }: Pick<BoundCondition, 'index' | 'tests'>,
): BoundCondition {
  const clause = describeCondition(condition);
  const compared = tests.find((test) => test.expected !== '');
  return { index, tests, clause, omitted: omit(clause), reject: (cell) => reject(condition.column, cell, compared) };
}

function omit(clause: string): RowRefusal {
  return { kind: 'skipped', skip: { code: 'filtered', reason: describeOmitted(clause) } };
}

export function describeOmitted(clause: string): string {
  return `filter: ${clause}`;
}

function reject(field: string, cell: string, { expected = '', advice }: Partial<CompiledTest> = {}): RowRefusal {
  const more = advice === undefined ? '' : `. ${advice}`;
  const shown = maskCell('bad-filter-value', cell);
  const reason = `Cannot compare ${field} as the filter says: ${shown === '' ? '' : `it is ${JSON.stringify(shown)}, `}expected ${expected}, or a blank cell${more}`;
  const rejection: Rejection = { stage: 'filter', field, code: 'bad-filter-value', reason };
  return { kind: 'rejected', rejection };
}

function ask({ tests, index }: BoundCondition, cells: RowCells): CellAnswer {
  const text = cells.cell(index);
  let unreadable = false;
  for (const test of tests) {
    const said = test.ofText(text, cells);
    if (said === NO) return NO;
    unreadable ||= said === UNREADABLE;
  }
  return unreadable ? UNREADABLE : YES;
}

/** The first condition that does not hold, or else the first undecidable one; undefined if all hold. */
function findObstacle(
  group: readonly BoundCondition[],
  row: RowCells,
): { condition: BoundCondition; said: CellAnswer } | undefined {
  let unreadable: BoundCondition | undefined;
  for (const condition of group) {
    const said = ask(condition, row);
    if (said === NO) return { condition, said };
    if (said === UNREADABLE) unreadable ??= condition;
  }
  return unreadable && { condition: unreadable, said: UNREADABLE };
}

function refuseByGroup(group: readonly BoundCondition[]): Refuse {
  return (row) => {
    const obstacle = findObstacle(group, row);
    if (obstacle === undefined) return undefined;
    return obstacle.said === NO ? obstacle.condition.omitted : rejectCell(obstacle.condition, row);
  };
}

function rejectCell({ index, reject }: BoundCondition, row: RowCells): RowRefusal {
  return reject(row.cell(index));
}

function refuseByGroups(groups: readonly (readonly BoundCondition[])[]): Refuse {
  const known = new Map<string, RowRefusal>();
  return (row) => {
    const clauses: string[] = [];
    let rejected: RowRefusal | undefined;
    for (const group of groups) {
      const obstacle = findObstacle(group, row);
      if (obstacle === undefined) return undefined;
      if (obstacle.said === UNREADABLE) rejected ??= rejectCell(obstacle.condition, row);
      clauses.push(obstacle.condition.clause);
    }
    if (rejected !== undefined) return rejected;
    const all = clauses.join('; and not ');
    const refusal = known.get(all) ?? omit(all);
    known.set(all, refusal);
    return refusal;
  };
}

/** Where a column of countries is not there: the numbers show theirs. */
function adviseCountry(condition: Condition, { column }: StepNumbers): string | undefined {
  const ofNumbers = column === undefined ? undefined : asCountry({ ...condition, column });
  return ofNumbers && `For the country of the number write ${ofNumbers}.`;
}

/** How a plain condition whose values are countries is written so that all their spellings count; undefined for another one. */
export function asCountry({ column, tests }: Condition): string | undefined {
  const [test, ...others] = tests;
  if (test === undefined || others.length > 0 || !('values' in test) || 'as' in test || test.exact) return undefined;
  const values = test.values.map(String);
  if (!values.every((value) => normalizeCountry(value).ok)) return undefined;
  return describeCondition({ column, tests: [{ op: test.op, as: 'country', values }] });
}
