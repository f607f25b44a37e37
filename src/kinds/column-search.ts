import type { BindProblems } from '../domain/find-column.js';
import { explainMissingColumn } from '../normalize/explain-missing-column.js';
import type { PlannerContext } from './step-kind.js';

/** Finds the columns that a job names in one file, and keeps a problem for each that is not there. */
export interface ColumnSearch {
  /** The column's index, or -1 for one that is not there; `key` is the key of the job that names it. */
  find(column: string, key: string): number;
  readonly problems: BindProblems['problems'];
}

export function searchColumns(
  columns: readonly string[],
  { findColumn }: Pick<PlannerContext, 'findColumn'>,
): ColumnSearch {
  const problems: { column: string; message: string; hint: string }[] = [];
  return {
    find: (column, key) => {
      const found = findColumn(columns, column);
      if (found === undefined) problems.push(describeMissing(column, key, columns));
      return found?.index ?? -1;
    },
    problems,
  };
}

function describeMissing(
  column: string,
  key: string,
  columns: readonly string[],
): { column: string; message: string; hint: string } {
  const { message, hint = 'Correct the name in the job, or the header of the file.' } = explainMissingColumn(
    column,
    columns,
  );
  return { column, message: `${key}: ${message}`, hint };
}
