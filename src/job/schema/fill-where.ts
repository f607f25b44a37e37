import type { CellTest, Condition, Where } from '../../domain/where.js';
import type { CheckedWhere } from './written-where.js';

type WrittenCondition = Extract<CheckedWhere, readonly unknown[]>[number][string];
type Comparison = Extract<WrittenCondition, { readonly exact?: unknown }>;
type Value = string | number | boolean;

/** A list of groups, of which one must hold; what is written short is written out. */
export function fillWhere(written: CheckedWhere): Where {
  const groups = Array.isArray(written) ? written : [written];
  return groups.map((group) =>
    Object.entries(group).map(([column, condition]): Condition => ({ column, tests: fillTests(condition) })),
  );
}

function fillTests(written: WrittenCondition): CellTest[] {
  if (written === 'blank' || written === 'present') return [{ op: written }];
  if (typeof written === 'object' && !Array.isArray(written)) return fillComparison(written);
  return [{ op: 'equals', values: fillValues(written), exact: false }];
}

function fillComparison({
  equals,
  not,
  atLeast,
  atMost,
  before,
  after,
  format,
  exact = false,
}: Comparison): CellTest[] {
  const tests: CellTest[] = [];
  if (equals !== undefined) tests.push({ op: 'equals', values: fillValues(equals), exact });
  if (not !== undefined) tests.push({ op: 'not', values: fillValues(not), exact });
  if (atLeast !== undefined) tests.push({ op: 'atLeast', bound: atLeast });
  if (atMost !== undefined) tests.push({ op: 'atMost', bound: atMost });
  if (before !== undefined) tests.push({ op: 'before', bound: before, format });
  if (after !== undefined) tests.push({ op: 'after', bound: after, format });
  return tests;
}

/** The schema holds that all are numbers, or none. */
function fillValues(written: Value | readonly Value[]): readonly string[] | readonly number[] {
  const values = [written].flat() as Value[];
  const numbers = values.filter((value) => typeof value === 'number');
  return numbers.length > 0 ? numbers : values.map(String);
}
