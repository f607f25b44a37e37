import { clip } from '../domain/text.js';
import type { CellTest, Condition } from '../job/schema/written-where.js';

/** A list of a thousand values would stand in every omitted row. */
const MAX_SHOWN = 80;

/** A condition as the job writes it, shortened: `country: [SG, MY]`, `spend: { atLeast: 100 }`. */
export function describeCondition({ column, tests }: Condition): string {
  const [first, ...more] = tests;
  const isBare = more.length === 0 && first !== undefined && isWrittenBare(first);
  const text = isBare ? showOperand(first) : `{ ${tests.map(showTest).join(', ')} }`;
  return clip(`${column}: ${text}`, MAX_SHOWN);
}

function isWrittenBare(test: CellTest): boolean {
  return test.op === 'blank' || test.op === 'present' || (test.op === 'equals' && !('as' in test) && !test.exact);
}

function showTest(test: CellTest): string {
  const as = 'as' in test ? `as: ${test.as}, ` : '';
  const exact = 'exact' in test && test.exact ? ', exact: true' : '';
  return `${as}${test.op}: ${showOperand(test)}${exact}`;
}

function showOperand(test: CellTest): string {
  if ('bound' in test) return String(test.bound);
  if (!('values' in test)) return test.op;
  const [first, ...more] = test.values;
  return more.length === 0 ? String(first) : `[${test.values.join(', ')}]`;
}
