import type { Cell } from '../domain.js';
import type { Input } from '../job/job.js';
import { normalizeCell } from '../normalize/number.js';
import type { AcceptedNumber } from '../normalize/number-codes.js';
import { searchColumns } from './column-search.js';
import type { BindProblems, FindColumn, RefusedDraft } from './kind.js';

/** Reads the number that a row is sent to; one that is refused ends its draft. */
export type ReadDestination = (cells: readonly Cell[]) => AcceptedNumber | RefusedDraft;

/** Finds where the number that a step sends to stands; without a reader where there are problems. */
export function bindDestination(
  { destination, input }: { readonly destination: string; readonly input: Input },
  columns: readonly string[],
  findColumn: FindColumn,
): BindProblems & { readonly read: ReadDestination | undefined } {
  const { country, countryColumn } = input;
  const { find, problems } = searchColumns(columns, { findColumn });
  const index = find(destination, 'destination');
  const countryIndex = countryColumn === undefined ? undefined : find(countryColumn, 'input.countryColumn');
  if (problems.length > 0) return { problems, read: undefined };
  const column = { index, countryIndex, country };
  const read: ReadDestination = (cells) => {
    const number = normalizeCell(cells, column);
    if (number.ok) return number;
    const { code, reason } = number;
    return { e164: undefined, rejection: { stage: 'normalize', field: destination, code, reason } };
  };
  return { problems, read };
}
