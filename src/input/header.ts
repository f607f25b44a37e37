import { countOf, listAll } from '../domain/count-of.js';
import type { Problem } from '../domain/errors.js';
import { restoreCell } from '../domain/formula-cell.js';
import { remember } from '../domain/is-object.js';
import {
  ID_COLUMN,
  isIgnoredColumn,
  isOwnHeader,
  listOwnColumns,
  readNames,
  readOwnName,
} from '../domain/output-columns.js';
import { isPlausibleEmail } from '../normalize/contact.js';
import { FORBIDDEN_NAMES, refuseAll } from './record-reader.js';

export interface Header {
  /** Names without the blanks around them; empty where a column has none. */
  readonly columns: readonly string[];
  readonly width: number;
  /** For an output of Volley, the fields that are columns of the input; undefined when all are. */
  readonly kept: readonly number[] | undefined;
  /** For an output of Volley, the columns that begin with `_`, and the field with the row's id (-1 if there is none). */
  readonly own: { readonly columns: readonly string[]; readonly id: number } | undefined;
  /** What separates the fields of a CSV. */
  readonly delimiter?: string | undefined;
  readonly notices: readonly string[];
}

/**
 * Columns from the first row of a file. Repeated names are numbered, so that each can be named. Refuses, all at once:
 * forbidden names, columns that outputs add in a file that is no output or twice, and too many columns.
 */
export function readHeader(
  cells: readonly string[],
  place: { where: string; maxColumns: number; delimiter?: string },
): Header {
  const isOwn = isOwnHeader(readNames(cells));
  const names = readNames(isOwn ? cells.map((cell) => restoreCell(cell, place.delimiter)) : cells);
  const problems = findProblems(names, { ...place, isOwn });
  if (problems.length > 0) throw refuseAll(problems);
  const kept = isOwn ? [...names.keys()].filter((index) => !isIgnoredColumn(names[index] ?? '')) : undefined;
  const { names: columns, notices: numbered } = numberRepeated(
    kept === undefined ? names : kept.map((index) => names[index] ?? ''),
  );
  const notices = [...numbered];
  if (kept !== undefined) notices.push(`ignored ${countOf(names.length - kept.length, 'column')} added by Volley`);
  const nameless = names.flatMap((name, index) => (name === '' ? [index + 1] : []));
  if (nameless.length > 0) notices.push(`columns without a name cannot be used: ${nameless.join(', ')}`);
  const own = isOwn ? { columns: listOwnColumns(names), id: names.indexOf(ID_COLUMN) } : undefined;
  return { columns, width: names.length, kept, own, delimiter: place.delimiter, notices };
}

/** Where names of columns are sought. */
export const HEADER_ROWS = 20;

/**
 * How many rows stand above the header: titles, of one cell each, where the first row with more cells names columns. 0 where that is the
 * first one, is not among the rows, or holds a person's data. `rows` are the first of a file, without blank ones.
 */
export function countTitles(rows: readonly (readonly string[])[]): number {
  const filled = rows.slice(0, HEADER_ROWS).map((cells) => cells.filter((cell) => cell.trim() !== ''));
  const header = filled.findIndex((cells) => cells.length > 1);
  const holdsData = filled.slice(0, header + 1).some((cells) => cells.some((cell) => readPersonal(cell) !== undefined));
  return header === -1 || holdsData ? 0 : header;
}

/** `titles`: the one cell of each. */
export function describeTitles(titles: readonly string[]): string {
  return `skipped ${countOf(titles.length, 'row')} above the header: ${titles.map((title) => JSON.stringify(title)).join(', ')}`;
}

const LEAST_DIGITS = 7;

/** What a cell of a first row holds that is no name of a column. */
export function readPersonal(cell: string): 'a number' | 'an e-mail address' | undefined {
  const digits = cell.replace(/E\+?\d+$/i, '');
  if (!/\p{L}/u.test(digits) && (cell.match(/\d/g)?.length ?? 0) >= LEAST_DIGITS) return 'a number';
  return isPlausibleEmail(cell.trim()) ? 'an e-mail address' : undefined;
}

const NOT_WHOLE = `Rename it, or remove it. If the file is an output of Volley, keep all of its columns that begin with _.`;

function findProblems(
  names: readonly string[],
  { where, maxColumns, isOwn }: { where: string; maxColumns: number; isOwn: boolean },
): Problem[] {
  if (names.length > maxColumns) {
    const message = `the header has ${names.length} columns, expected at most ${maxColumns}`;
    const hint = 'Remove columns from the file, or raise limits.maxColumns where the job names the file.';
    return [{ where, message, hint }];
  }
  const problems: Problem[] = [];
  const seen = new Map<string, number>();
  for (const [index, name] of names.entries()) {
    const first = seen.get(name);
    seen.set(name, first ?? index + 1);
    if (FORBIDDEN_NAMES.has(name)) {
      const message = `column ${index + 1} is named ${name}, expected another name`;
      problems.push({ where, message, hint: 'Rename it.' });
    } else if (!isOwn && readOwnName(name) !== undefined) {
      const message = `column ${index + 1} is named ${name}, a name that Volley adds to its outputs, expected another name`;
      problems.push({ where, message, hint: NOT_WHOLE });
    } else if (first !== undefined && name !== '' && mayNotRepeat(name)) {
      const named = HAS_LETTER.test(name) ? `are both named ${JSON.stringify(name)}` : 'have the same name';
      const message = `columns ${first} and ${index + 1} ${named}, expected each name once`;
      problems.push({ where, message, hint: 'Rename one of them.' });
    }
  }
  return problems;
}

const HAS_LETTER = /\p{L}/u;

/** An added column has a meaning; a name without a letter may be a phone number, in a file without a header. */
function mayNotRepeat(name: string): boolean {
  return readOwnName(name) !== undefined || !HAS_LETTER.test(name);
}

/**
 * Columns whose name stands twice in a header are numbered, `email (1)` and `email (2)`: they appear in every output, and none is taken
 * for the job's `email`. With a notice for each such name.
 */
export function numberRepeated(names: readonly string[]): { names: readonly string[]; notices: readonly string[] } {
  const places = new Map<string, number[]>();
  for (const [index, name] of names.entries()) remember(places, name, (): number[] => []).push(index);
  const numbered = [...names];
  const notices: string[] = [];
  for (const [name, indexes] of places) {
    if (name === '' || indexes.length < 2) continue;
    let number = 0;
    for (const index of indexes) {
      do number += 1;
      while (places.has(withNumber(name, number)));
      numbered[index] = withNumber(name, number);
    }
    const shown = indexes.map((index) => numbered[index]).join(', ');
    const columns = listAll(indexes.map((index) => index + 1));
    notices.push(`columns ${columns} have the same name and are numbered: ${shown}`);
  }
  return { names: numbered, notices };
}

function withNumber(name: string, number: number): string {
  return `${name} (${number})`;
}
