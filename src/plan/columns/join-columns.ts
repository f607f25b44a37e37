import type { FindColumn } from '../../domain/find-column.js';
import { isResultColumn } from '../../domain/output-columns.js';
import type { Cell } from '../../domain/row.js';

/** The original columns of a step's outputs, and where the columns of each input stand among them. */
interface JoinedColumns {
  readonly columns: readonly string[];
  readonly maps: readonly (readonly number[])[];
}

/**
 * Joins the columns of a step's files: the same name, or the same without case and punctuation, is one column, under the
 * name that came first. So an output can be read again as one file in which each row has its number in one column.
 */
export function joinColumns(inputs: readonly (readonly string[])[], findColumn: FindColumn): JoinedColumns {
  const columns: string[] = [];
  const maps = inputs.map((names) => {
    const taken = new Set<number>();
    const map: number[] = new Array(names.length).fill(-1);
    const place = (from: number, to: number | undefined) => {
      if (to === undefined || to === -1 || taken.has(to)) return;
      taken.add(to);
      map[from] = to;
    };
    // Exact names first: a folded match must not take the place of a column's own name.
    for (const [index, name] of names.entries()) {
      place(
        index,
        columns.findIndex((column, at) => column === name && !taken.has(at)),
      );
    }
    for (const [index, name] of names.entries()) {
      if (map[index] === -1 && !isResultColumn(name)) place(index, findColumn(columns, name)?.index);
      if (map[index] === -1) place(index, columns.push(name) - 1);
    }
    return map;
  });
  return { columns, maps };
}

/** The cells of a row of an input, in the order of so many columns: `map` says where those of the input stand among them. */
export function spreadCells(cells: readonly Cell[], map: readonly number[], width: number): Cell[] {
  const spread: Cell[] = new Array(width).fill(undefined);
  for (const [index, column] of map.entries()) spread[column] = cells[index];
  return spread;
}
