import type { FindColumn } from '../domain/find-column.js';
import type { RowCells } from '../domain/row.js';
import type { Condition, Where } from '../domain/where.js';
import { describeOmitted } from './bind-where.js';
import { type CellCount, CellCounts } from './cell-counts.js';
import { describeCondition } from './describe-condition.js';

/** A condition of `where`, the rows that it left out, and the commonest of their cells. */
export interface FilterFigures {
  readonly clause: string;
  readonly omitted: number;
  readonly values: readonly CellCount[];
}

interface Filter {
  readonly clause: string;
  readonly columns: readonly string[];
  readonly counts: CellCounts;
  /** Of its columns, in the current file. */
  indexes: readonly number[];
}

/**
 * Counts the rows that each condition of a `where` left out, in the order of the job: a row at the first that does not
 * hold. A list of maps is one filter, since no single condition of it leaves a row out.
 */
export class FilterTally {
  readonly #filters: readonly Filter[];
  readonly #byReason: ReadonlyMap<string, Filter>;
  readonly #findColumn: FindColumn;
  #columns: readonly string[] = [];
  #bound = -1;

  constructor(where: Where, findColumn: FindColumn) {
    const [only = [], ...others] = where;
    this.#filters = others.length === 0 ? only.map((condition) => createFilter([[condition]])) : [createFilter(where)];
    this.#byReason = new Map(this.#filters.map((filter) => [describeOmitted(filter.clause), filter]));
    this.#findColumn = findColumn;
  }

  /** `reason`: what the row is skipped for. The columns of NDJSON grow. */
  add(reason: string, cells: RowCells, columns: readonly string[]): void {
    if (columns !== this.#columns || columns.length !== this.#bound) this.#bind(columns);
    const filter = this.#byReason.get(reason) ?? this.#filters[0];
    filter?.counts.add(cells, filter.indexes);
  }

  #bind(columns: readonly string[]): void {
    this.#columns = columns;
    this.#bound = columns.length;
    for (const filter of this.#filters)
      filter.indexes = filter.columns.map((column) => this.#findColumn(columns, column)?.index ?? -1);
  }

  figures(): FilterFigures[] {
    return this.#filters.map(({ clause, counts }) => ({ clause, omitted: counts.rows, values: counts.list() }));
  }
}

function createFilter(where: readonly (readonly Condition[])[]): Filter {
  const clause = where.map((group) => group.map(describeCondition).join(', ')).join(' or ');
  const columns = [...new Set(where.flat().map(({ column }) => column))];
  return { clause, columns, counts: new CellCounts(), indexes: [] };
}
