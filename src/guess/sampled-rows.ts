import type { Cell } from '../domain/row.js';
import { findColumn } from '../normalize/columns.js';

/** The first rows of a file, as its reader gives them. */
export interface SampledFile {
  /** As the job will write it. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** The first rows of all files, in the columns that every file has; names are those of the first file. */
export interface SampledRows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Columns of the files that are not in all of them. */
  readonly notInAll: readonly string[];
}

/** Joins files by the names of their columns. A column without a name cannot be used in a job. */
export function joinSamples(files: readonly SampledFile[]): SampledRows {
  const [first] = files;
  const named = (first?.columns ?? []).filter((name) => name !== '');
  const columns = named.filter((name) => files.every((file) => findColumn(file.columns, name) !== undefined));
  const rows = files.flatMap((file) => {
    const indexes = columns.map((name) => findColumn(file.columns, name) ?? -1);
    return file.rows.map((cells) => indexes.map((index) => cells[index] ?? ''));
  });
  const all = files.flatMap((file) => file.columns.filter((name) => name !== ''));
  const notInAll = [...new Set(all)].filter((name) => findColumn(columns, name) === undefined);
  return { columns, rows, notInAll };
}

/** The cells of a column that hold anything. */
export function listFilled({ rows }: SampledRows, column: number): string[] {
  return rows.map((cells) => cells[column] ?? '').filter((cell) => cell.trim() !== '');
}
