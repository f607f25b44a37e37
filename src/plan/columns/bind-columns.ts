import type { FindColumn } from '../../domain/find-column.js';
import type { RecordReader } from '../../input/record-reader.js';
import { findNumbered } from '../../input/repeated-names.js';
import type { RowPlanner, RowReader } from '../../kinds/step-kind.js';
import type { ProblemList } from '../problems.js';

/**
 * Binds a file's row reader while its columns become known. A CSV names its columns in the header; those of an NDJSON
 * file grow with its rows, so a missing column may still appear: until then its cells are missing.
 */
export class ColumnBinding {
  readonly #planner: RowPlanner;
  readonly #reader: RecordReader;
  readonly #step: number;
  readonly #mayGrow: boolean;
  #boundColumns = -1;
  #rows: RowReader | undefined;

  constructor(planner: RowPlanner, reader: RecordReader, { step, mayGrow }: { step: number; mayGrow: boolean }) {
    this.#planner = planner;
    this.#reader = reader;
    this.#step = step;
    this.#mayGrow = mayGrow;
  }

  /** Undefined when the file lacks a column: its rows then cannot be planned. */
  get rows(): RowReader | undefined {
    const { columns } = this.#reader;
    if (columns.length === this.#boundColumns) return this.#rows;
    this.#boundColumns = columns.length;
    const bound = this.#planner.bind(columns);
    if (typeof bound === 'function') this.#rows = bound;
    else if (this.#mayGrow) {
      const missing = bound.problems.map((problem) => problem.column);
      const withMissing = this.#planner.bind([...columns, ...missing]);
      this.#rows = typeof withMissing === 'function' ? withMissing : undefined;
    } else this.#rows = undefined;
    return this.#rows;
  }

  /** Call it once all rows are read: reports each missing column. */
  addProblems(file: string, problems: ProblemList): void {
    const bound = this.#planner.bind(this.#reader.columns);
    if (typeof bound === 'function') return;
    const where = this.#mayGrow ? file : `${file}:1`;
    for (const { column, message, hint, at } of bound.problems) {
      const numbered = findNumbered(this.#reader.columns, column);
      if (numbered.length > 0) problems.add({ where, ...describeNumbered(column, numbered) });
      else if (at === undefined) problems.add({ where, message, ...(hint === undefined ? {} : { hint }) });
      else {
        // Named with the line of the job, it says of which file it is.
        const named = { where, at: ['steps', this.#step - 1, ...at], message: `${message} (in ${where})` };
        problems.add({ ...named, ...(hint === undefined ? {} : { hint }) });
      }
    }
  }
}

/** For a column that the job names and that the header has more than once. */
export function describeNumbered(column: string, numbered: readonly string[]): { message: string; hint: string } {
  return {
    message: `the job names the column "${column}", and ${numbered.length} columns have this name, expected one`,
    hint: `Rename them in the file, or write ${numbered.map((name) => `"${name}"`).join(' or ')} in the job.`,
  };
}

/** Finds columns, and remembers which were matched only without case and punctuation, to report it. */
export class FoldedNames {
  readonly find: FindColumn;
  readonly #folded = new Map<string, string>();

  constructor(findColumn: FindColumn) {
    this.find = (columns, wanted) => {
      const found = findColumn(columns, wanted);
      if (found?.how === 'folded') this.#folded.set(wanted, columns[found.index] ?? '');
      return found;
    };
  }

  /** A sentence for each since the last call. */
  takeNotices(): string[] {
    const notices = [...this.#folded].map(([wanted, column]) => `its column "${column}" is taken for "${wanted}"`);
    this.#folded.clear();
    return notices;
  }
}
