import type { FindColumn } from '../../domain/find-column.js';
import { bindRows } from '../../filter/filter-rows.js';
import type { RecordReader } from '../../input/record-reader.js';
import type { RowStep } from '../../job/job.js';
import type { DraftRow } from '../../kinds/step-kind.js';
import { Columns } from '../../normalize/columns.js';
import type { ProblemList } from '../problems.js';

/**
 * Binds the rows of a file while its columns become known. A CSV names its columns in the header; those of an NDJSON
 * file grow with its rows, so a missing column may still appear: until then its cells are missing.
 */
export class ColumnBinding {
  readonly #bind: (columns: Columns) => DraftRow;
  readonly #reader: RecordReader;
  readonly #findColumn: FindColumn;
  readonly #number: number;
  readonly #mayGrow: boolean;
  #columns: Columns | undefined;
  #draftRow: DraftRow | undefined;

  constructor(
    { step, number }: { step: RowStep; number: number },
    reader: RecordReader,
    { findColumn, mayGrow, replayed }: { findColumn: FindColumn; mayGrow: boolean; replayed?: DraftRow | undefined },
  ) {
    this.#bind = (columns) => replayed ?? bindRows(step, columns);
    this.#reader = reader;
    this.#findColumn = findColumn;
    this.#number = number;
    this.#mayGrow = mayGrow;
  }

  /** Undefined when the file lacks a column: its rows then cannot be planned. */
  get draftRow(): DraftRow | undefined {
    const { problems } = this.#bound();
    return this.#mayGrow || problems.length === 0 ? this.#draftRow : undefined;
  }

  /** Call it once all rows are read: reports each missing column. */
  addProblems(file: string, problems: ProblemList): void {
    const where = this.#mayGrow ? file : `${file}:1`;
    for (const { message, hint, at } of this.#bound().problems) {
      // Named with the line of the job, it says of which file it is.
      const named = at && { at: ['steps', this.#number - 1, ...at], message: `${message} (in ${where})` };
      problems.add({ where, message, hint, ...named });
    }
  }

  /** A sentence for each name that matches a column only without case and punctuation. */
  get notices(): readonly string[] {
    return [...(this.#columns?.folded.values() ?? [])];
  }

  #bound(): Columns {
    const names = this.#reader.columns;
    if (this.#columns?.names.length !== names.length) {
      this.#columns = new Columns([...names], this.#findColumn);
      this.#draftRow = this.#bind(this.#columns);
    }
    return this.#columns;
  }
}
