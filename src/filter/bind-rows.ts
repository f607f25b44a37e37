import type { ByteCells } from '../domain/bytes/row-block.js';
import { remember } from '../domain/is-object.js';
import { clip } from '../domain/text.js';
import { findGroup, type Window } from '../hours/window.js';
import type { RowStep } from '../job/job.js';
import type { CellTest, Condition, Where } from '../job/schema/written-where.js';
import { kindOf } from '../kinds/kinds.js';
import { type DraftRow, type RowRefusal, reject } from '../kinds/step-kind.js';
import type { Columns } from '../normalize/columns.js';
import { normalizeCountry } from '../normalize/country.js';
import { maskCell } from '../normalize/mask.js';
import { type CompiledTest, compileCountryTest, compileTest, numbersOf, type StepNumbers } from './compile-test.js';

/** Drafts the rows of a file, but for those that the step's `where` leaves out: they are neither checked nor compared with others. */
export function bindRows(step: RowStep, columns: Columns): DraftRow {
  const { where } = step.input;
  const refuseRow = where && bindWhere(where, columns, numbersOf(step));
  const ofKind = kindOf(step).bind(step, columns);
  const window = step.kind === 'sms' ? step.window : undefined;
  const draftRow = window === undefined ? ofKind : draftHours(ofKind, window, columns);
  if (refuseRow === undefined) return draftRow;
  return (cells, text) => {
    const refusal = refuseRow(cells);
    return refusal === undefined ? draftRow(cells, text) : { refusal };
  };
}

/** Adds its hours to each draft, where a column says the zone of a row, or its number's country does. One whose zone is not known is not sent. */
function draftHours(draftRow: DraftRow, window: Window, columns: Columns): DraftRow {
  const { timeZone, unknown } = window;
  const column = typeof timeZone === 'string' ? '' : timeZone.column;
  if (column === '' && timeZone !== 'recipient') return draftRow;
  const index = column === '' ? -1 : columns.find(column, 'window.timeZone.column');
  return (cells, text) => {
    const start = text.length;
    const draft = draftRow(cells, text);
    if (draft.refusal !== undefined) return draft;
    const { number, country } = draft;
    const cell = cells.cell(index);
    const hours = findGroup(window, { country, cell });
    if (hours !== undefined) return { ...draft, hours };
    text.endAt(start);
    const reason =
      column === ''
        ? `No time zone is known for numbers of ${country ?? 'no country'}`
        : `The column ${column} says ${JSON.stringify(cell.slice(0, 40))}, expected the name of a time zone such as Asia/Singapore`;
    const code = 'no-time-zone';
    if (unknown === 'hold') return { number, country, refusal: { kind: 'skipped', skip: { code, reason } } };
    return { number, country, refusal: reject({ stage: 'normalize', field: column, code, reason }) };
  };
}

/**
 * Binds a `where` to the columns of a file; `numbers` are those of the step. It then says of a row why it does not take part. A row takes
 * part if all conditions of one group hold, is omitted if in each group one does not, and is rejected if that is undecidable: where a cell
 * that decides it cannot be compared.
 */
export function bindWhere(where: Where, columns: Columns, numbers: StepNumbers) {
  if (where.length === 0) throw new Error('A where without a group lets no row pass');
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
  const groups = where.map((group, at) =>
    group.map((condition): BoundCondition => {
      const key = ['input', 'where', ...(where.length === 1 ? [] : [at]), condition.column];
      const index = columns.find(condition.column, 'input.where', {
        at: key,
        advice: adviseCountry(condition, numbers),
      });
      const tests = condition.tests.map((test) => compile(test, index));
      return { index, tests, column: condition.column, clause: describeCondition(condition) };
    }),
  );
  const omitted = new Map<string, RowRefusal>();
  return (row: ByteCells): RowRefusal | undefined => {
    const clauses: string[] = [];
    let rejected: RowRefusal | undefined;
    for (const group of groups) {
      const obstacle = findObstacle(group, row);
      if (obstacle === undefined) return undefined;
      const { condition, isReadable } = obstacle;
      if (!isReadable) rejected ??= rejectCell(condition, row.cell(condition.index));
      clauses.push(condition.clause);
    }
    const clause = clauses.join(' or ');
    if (rejected !== undefined) return rejected;
    const omit = (): RowRefusal => ({ kind: 'skipped', skip: { code: 'filtered', reason: describeOmitted(clause) } });
    return remember(omitted, clause, omit);
  };
}

interface BoundCondition {
  readonly index: number;
  readonly tests: readonly CompiledTest[];
  readonly column: string;
  readonly clause: string;
}

export function describeOmitted(clause: string): string {
  return `filter: ${clause}`;
}

function rejectCell({ column: field, tests }: BoundCondition, cell: string): RowRefusal {
  const { expected = '', advice } = tests.find((test) => test.expected !== '') ?? {};
  const more = advice === undefined ? '' : `. ${advice}`;
  const shown = maskCell('bad-filter-value', cell);
  const reason = `Cannot compare ${field} as the filter says: ${shown === '' ? '' : `it is ${JSON.stringify(shown)}, `}expected ${expected}, or a blank cell${more}`;
  return reject({ stage: 'filter', field, code: 'bad-filter-value', reason });
}

/** The first condition that does not hold, or else the first undecidable one; undefined if all hold. */
function findObstacle(
  group: readonly BoundCondition[],
  row: ByteCells,
): { condition: BoundCondition; isReadable: boolean } | undefined {
  let unreadable: BoundCondition | undefined;
  for (const condition of group) {
    const text = row.cell(condition.index);
    for (const test of condition.tests) {
      const holds = test.holds(text, row);
      if (holds === false) return { condition, isReadable: true };
      if (holds === undefined) unreadable ??= condition;
    }
  }
  return unreadable && { condition: unreadable, isReadable: false };
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
