import { readOwnName } from '../domain/output-columns.js';
import { foldName, suggestNearest } from '../domain/text.js';
import { listColumns } from './mask.js';

/** A column that the job names and the file lacks, or cannot have twice. */
export interface ColumnProblem {
  readonly message: string;
  readonly hint: string;
  /** Where the step names the column, below the step; absent where the file is to be named. */
  readonly at?: readonly (string | number)[];
}

/** The columns of one file, as a job names them; keeps a problem for each that is not there. */
export class Columns {
  readonly names: readonly string[];
  readonly problems: ColumnProblem[] = [];
  /** Names that match a column only without case and punctuation, to report it: a sentence for each. */
  readonly folded = new Map<string, string>();

  constructor(names: readonly string[]) {
    this.names = names;
  }

  /**
   * Where a column stands; -1 where it is not there. `about` begins the problem that is kept then, such as the key of the job; `advice`
   * ends its hint.
   */
  find(
    wanted: string,
    about: string,
    { at, advice }: { at?: ColumnProblem['at']; advice?: string | undefined } = {},
  ): number {
    const index = this.look(wanted);
    if (index !== undefined) return index;
    const nearest = suggestNearest(wanted, this.names);
    const usual =
      nearest === undefined
        ? 'Correct the name in the job, or the header of the file.'
        : `Did you mean ${JSON.stringify(nearest)}?`;
    const { message, hint = usual } = explainMissingColumn(wanted, this.names);
    const more = advice === undefined ? hint : `${hint} ${advice}`;
    this.problems.push({ message: `${about}: ${message}`, hint: more, ...(at && { at }) });
    return -1;
  }

  /** Finds a column that the job need not name. */
  findAny(wanted: string | undefined, about: string): number | undefined {
    return wanted === undefined ? undefined : this.find(wanted, about);
  }

  /** Finds a column without keeping a problem; undefined where it is not there. */
  look(wanted: string | undefined): number | undefined {
    const index = wanted === undefined ? undefined : findColumn(this.names, wanted);
    const name = this.names[index ?? -1];
    if (wanted !== undefined && name !== undefined && name.trim() !== wanted.trim())
      this.folded.set(wanted, `its column "${name}" is taken for "${wanted}"`);
    return index;
  }
}

/**
 * Finds a column by its name: exactly, save for blanks around it, then without case and punctuation. Undefined when
 * there is none, or when several fit only in the second way. An added column is found by its exact name alone:
 * `_destination` never takes the place of a person's `Destination`.
 */
export function findColumn(columns: readonly string[], wanted: string): number | undefined {
  const name = wanted.trim();
  if (name === '') return undefined;
  const exact = columns.findIndex((column) => column.trim() === name);
  if (exact !== -1) return exact;
  const own = readOwnName(name);
  const ownIndex = own === undefined ? -1 : columns.findIndex((column) => readOwnName(column) === own);
  if (ownIndex !== -1) return ownIndex;
  const folded = foldName(name);
  if (folded === '') return undefined;
  const fitting = columns.flatMap((column, index) =>
    readOwnName(column) === undefined && foldName(column) === folded ? [index] : [],
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** What follows may be cells: those of the first row, where a file has no header. */
export const COLUMNS_FOLLOW = '; columns: ';

/**
 * Why the job's name of a column leads to none of the file's: no column matches it, or several do and none of them
 * exactly. `hint` is absent in the first case: it depends on the caller. Numbers in names of columns are masked.
 */
export function explainMissingColumn(
  wanted: string,
  columns: readonly string[],
): { readonly message: string; readonly hint?: string } {
  const numbered = findNumbered(columns, wanted);
  if (numbered.length > 0) {
    return {
      message: `the job names the column "${wanted}", and ${numbered.length} columns have this name, expected one`,
      hint: `Rename them in the file, or write ${numbered.map((name) => `"${name}"`).join(' or ')} in the job.`,
    };
  }
  const folded = foldName(wanted);
  const matching = columns.filter((column) => readOwnName(column) === undefined && foldName(column) === folded);
  if (folded === '' || matching.length < 2) {
    return { message: `no column matches '${wanted}'${COLUMNS_FOLLOW}${listColumns(columns)}` };
  }
  return {
    message: `${matching.length} columns match '${wanted}': ${listColumns(matching)}`,
    hint: 'Write the name of one of them in the job exactly as it stands in the file.',
  };
}

/**
 * The columns that the reader of the file numbered (header.ts) and that a job may mean by a name; empty where it can mean none or
 * only one.
 */
function findNumbered(columns: readonly string[], wanted: string): string[] {
  const base = foldName(wanted);
  const found = columns.filter((column) => {
    const [, name] = /^(.+) \(\d+\)$/s.exec(column) ?? [];
    return name !== undefined && foldName(name) === base;
  });
  return found.length > 1 ? found : [];
}
