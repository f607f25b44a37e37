import type { BindProblems, FindColumn } from '../domain/find-column.js';
import type { Rejection, RowCells } from '../domain/row.js';
import { suggestNearest } from '../domain/suggest.js';
import type { Condition, Where } from '../domain/where.js';
import type { RowRefusal } from '../kinds/step-kind.js';
import { explainMissingColumn } from '../normalize/explain-missing-column.js';
import { type CellAnswer, type CompiledTest, NO, UNREADABLE, YES } from './cell-answer.js';
import { compileTest } from './compile-test.js';
import { describeCondition } from './describe-condition.js';

/** Says of the rows of one file why they do not take part; undefined of those that do. */
export interface RowFilter {
  refuse(cells: RowCells): RowRefusal | undefined;
}

/**
 * Binds a `where` to the columns of a file. A row takes part if all conditions of one group hold, is omitted if in
 * each group one does not, and is rejected if that is undecidable: where a cell that decides it cannot be compared.
 */
export function bindWhere(where: Where, columns: readonly string[], findColumn: FindColumn): RowFilter | BindProblems {
  const problems: BindProblems['problems'][number][] = [];
  const groups = where.map((group, index) =>
    group.map((condition): BoundCondition => {
      const found = findColumn(columns, condition.column);
      if (found === undefined) {
        const at = where.length === 1 ? [condition.column] : [index, condition.column];
        problems.push(describeMissing(condition, columns, at));
      }
      return bindCondition(condition, found?.index ?? -1);
    }),
  );
  if (problems.length > 0) return { problems };
  const [only, ...others] = groups;
  if (only === undefined) throw new Error('A where without a group lets no row pass');
  return { refuse: others.length === 0 ? refuseByGroup(only) : refuseByGroups(groups) };
}

interface BoundCondition {
  readonly index: number;
  readonly tests: readonly CompiledTest[];
  readonly clause: string;
  readonly omitted: RowRefusal;
  readonly rejected: RowRefusal;
}

type Refuse = RowFilter['refuse'];

function bindCondition(condition: Condition, index: number): BoundCondition {
  const tests = condition.tests.map(compileTest);
  const clause = describeCondition(condition);
  const compared = tests.find((test) => test.expected !== '');
  return { index, tests, clause, omitted: omit(clause), rejected: reject(condition.column, compared) };
}

function omit(clause: string): RowRefusal {
  return { kind: 'skipped', skip: { code: 'filtered', reason: describeOmitted(clause) } };
}

export function describeOmitted(clause: string): string {
  return `filter: ${clause}`;
}

function reject(field: string, { expected = '', advice }: Partial<CompiledTest> = {}): RowRefusal {
  const more = advice === undefined ? '' : `. ${advice}`;
  const reason = `Cannot compare ${field} as \`where\` says: expected ${expected}, or a blank cell${more}`;
  const rejection: Rejection = { stage: 'filter', field, code: 'bad-filter-value', reason };
  return { kind: 'rejected', rejection };
}

function ask({ tests, index }: BoundCondition, cells: RowCells): CellAnswer {
  const { asBytes } = cells;
  const start = asBytes?.startOf(index) ?? 0;
  const end = asBytes?.endOf(index) ?? 0;
  let unreadable = false;
  for (const test of tests) {
    const quick = asBytes && test.ofBytes?.(asBytes.bytes, start, end);
    const said = quick ?? test.ofText(cells.cell(index));
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
    return obstacle.said === NO ? obstacle.condition.omitted : obstacle.condition.rejected;
  };
}

function refuseByGroups(groups: readonly (readonly BoundCondition[])[]): Refuse {
  const known = new Map<string, RowRefusal>();
  return (row) => {
    const clauses: string[] = [];
    let rejected: RowRefusal | undefined;
    for (const group of groups) {
      const obstacle = findObstacle(group, row);
      if (obstacle === undefined) return undefined;
      if (obstacle.said === UNREADABLE) rejected ??= obstacle.condition.rejected;
      clauses.push(obstacle.condition.clause);
    }
    if (rejected !== undefined) return rejected;
    const all = clauses.join('; and not ');
    const refusal = known.get(all) ?? omit(all);
    known.set(all, refusal);
    return refusal;
  };
}

function describeMissing(
  { column }: Condition,
  columns: readonly string[],
  at: readonly (string | number)[],
): BindProblems['problems'][number] {
  const nearest = suggestNearest(column, columns);
  const { message, hint = nearest && `Did you mean "${nearest}"?` } = explainMissingColumn(column, columns);
  const fallback = 'Correct the name in the job, or the header of the file.';
  return { column, message: `input.where: ${message}`, hint: hint ?? fallback, at: ['input', 'where', ...at] };
}
