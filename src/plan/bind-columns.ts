import { isResultColumn } from '../domain/output-columns.js';
import type { Cell } from '../domain/row.js';
import { bindRows } from '../filter/bind-rows.js';
import type { RecordReader } from '../input/record-reader.js';
import type { RowStep } from '../job/job.js';
import type { DraftRow } from '../kinds/step-kind.js';
import { Columns, findColumn } from '../normalize/columns.js';
import type { ProblemList } from './problems.js';

/**
 * Binds the rows of a file while its columns become known. A CSV names its columns in the header; those of an NDJSON
 * file grow with its rows, so a missing column may still appear: until then its cells are missing.
 */
export function createColumnBinding(
  { step, number }: { readonly step: RowStep; readonly number: number },
  reader: RecordReader,
  { mayGrow }: { mayGrow: boolean },
) {
  let columns: Columns | undefined;
  let draftRow: DraftRow | undefined;
  const bind = (): Columns => {
    const names = reader.columns;
    if (columns?.names.length !== names.length) {
      columns = new Columns([...names]);
      draftRow = bindRows(step, columns);
    }
    return columns;
  };
  return {
    /** Drafts a row; undefined when the file lacks a column: its rows then cannot be planned. */
    get draftRow(): DraftRow | undefined {
      const { problems } = bind();
      return mayGrow || problems.length === 0 ? draftRow : undefined;
    },
    /** Call it once all rows are read: reports each missing column. Without rows an NDJSON file, and an output of a step that had no file, names none and lacks none. */
    addProblems: (file: string, problems: ProblemList, hasRows: boolean): void => {
      if (!hasRows && (mayGrow || reader.ownColumns.length > 0)) return;
      const where = mayGrow ? file : `${file}:1`;
      for (const { message, hint, at } of bind().problems) {
        // Named with the line of the job, it says of which file it is.
        const named = at && { at: ['steps', number - 1, ...at], message: `${message} (in ${where})` };
        problems.add({ where, message, hint, ...named });
      }
    },
    /** A sentence for each name that matches a column only without case and punctuation. */
    get notices(): readonly string[] {
      return [...(columns?.folded.values() ?? [])];
    },
  };
}

/**
 * Joins the columns of a step's files: the same name, or the same without case and punctuation, is one column, under the
 * name that came first. So an output can be read again as one file in which each row has its number in one column. `maps`: where the
 * columns of each file stand among them.
 */
export function joinColumns(inputs: readonly (readonly string[])[]) {
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
      const own = columns.findIndex((column, at) => column === name && !taken.has(at));
      place(index, own);
    }
    for (const [index, name] of names.entries()) {
      if (map[index] === -1 && !isResultColumn(name)) place(index, findColumn(columns, name));
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
