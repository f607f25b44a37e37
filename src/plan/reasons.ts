import type { Cell } from '../domain/row.js';
import { findColumn } from '../normalize/columns.js';
import { maskCell } from '../normalize/mask.js';

/** Rows that were not accepted for the same reason, with the first of them as an example. Holds no personal data. */
export interface Reason {
  readonly code: string;
  readonly rows: number;
  /** The service's own message, numbers masked; of Volley's codes `describeExpected`. */
  readonly said: string;
  readonly example: ReasonExample;
}

export interface ReasonExample {
  /** The file as places show it; `path`: where it lies. */
  readonly file: string;
  readonly path: string;
  readonly line: number;
  readonly row: number;
  /** The column at fault; '' when it is the row as a whole. */
  readonly field: string;
  /** The cell, masked; '' if even that would reveal too much. */
  readonly value: string;
}

const MOST_LISTED = 3;

/** Counts rows by the code of why they were not accepted, and keeps the first of each. */
export class ReasonTally {
  readonly #reasons = new Map<string, { rows: number; said: string; example: ReasonExample }>();

  /** `describe` is called for the first row of a code alone. */
  add(code: string, describe: () => Pick<Reason, 'said' | 'example'>): void {
    const known = this.#reasons.get(code);
    if (known === undefined) this.#reasons.set(code, { rows: 1, ...describe() });
    else known.rows += 1;
  }

  counts(): Record<string, number> {
    return Object.fromEntries(this.#sorted().map(({ code, rows }) => [code, rows]));
  }

  list(): Reason[] {
    return this.#sorted().slice(0, MOST_LISTED);
  }

  #sorted(): Reason[] {
    const reasons = [...this.#reasons].map(([code, reason]) => ({ code, ...reason }));
    return reasons.sort((a, b) => b.rows - a.rows || (a.code < b.code ? -1 : 1));
  }
}

/** What a reason adds to the words of its code: of a cell that a filter cannot compare, what was expected. */
export function describeExpected(code: string, reason: string): string {
  return code === 'bad-filter-value' ? reason.slice(reason.lastIndexOf('expected ')) : '';
}

/** Where a row stands, its columns and its cells. */
export interface ExampleRow {
  readonly file: string;
  readonly path: string;
  readonly line: number;
  readonly row: number;
  readonly columns: readonly string[];
  readonly cells: readonly Cell[];
}

export function describeExample(
  { file, path, line, row, columns, cells }: ExampleRow,
  { code, field }: { code: string; field: string },
): ReasonExample {
  const index = findColumn(columns, field);
  const cell = index === undefined ? undefined : cells[index];
  return { file, path, line, row, field, value: cell === undefined ? '' : maskCell(code, cell) };
}
