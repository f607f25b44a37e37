import { stripVTControlCharacters } from 'node:util';
import { parseJson } from './is-object.js';
import type { Cell } from './row.js';

/** A text without the characters at its end that are among `characters`; `/…+$/` would begin anew at each such character inside it. */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Cuts a text to so many characters, and adds a sign that there were more. */
export function clip(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Whether it is longer than so many bytes in UTF-8, where a UTF-16 unit takes three at most. */
export function exceedsBytes(text: string, most: number): boolean {
  return text.length * 3 > most && Buffer.byteLength(text) > most;
}

const BLANK = /^[\s\u200B-\u200D\u2060]*$/;

/** Whether a cell has nothing to show: empty, or blanks only, the invisible ones too. */
export function isBlank(cell: Cell): cell is '' | undefined {
  if (cell === undefined || cell === '') return true;
  const first = cell.charCodeAt(0);
  // Fast path: most cells begin with a letter or a digit.
  return (first <= 0x20 || first >= 0x7f) && BLANK.test(cell);
}

/** Whether a cell holds an object or a list, which a file of NDJSON may have in place of a text. */
export function isNestedJson(cell: string): boolean {
  return (cell.startsWith('{') || cell.startsWith('[')) && parseJson(cell) !== undefined;
}

/** How names of columns are compared: letters, marks and digits only, lower case; full-width forms as the plain ones. */
export function foldName(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '');
}

/** Characters that take two columns: Hangul, CJK, full-width forms, emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const NONE = /[\p{M}\p{Cf}]/u;

/** Columns that a text without controls takes on a terminal; colours take none. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of stripVTControlCharacters(text))
    width += NONE.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** Cuts a text to a width; what is cut off leaves an ellipsis. */
export function cutText(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  for (const character of text) {
    if (widthOf(kept + character) > width - 1) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

/**
 * Lines of at most so many columns, parted at blanks, all but the first one indented; a word that is wider stands alone and whole, so
 * that it can be copied.
 */
export function wrapText(text: string, width: number, indent = ''): string[] {
  const lead = /^ */.exec(text)?.[0] ?? '';
  const [first = '', ...words] = text.slice(lead.length).split(' ');
  const lines: string[] = [];
  let line = lead + first;
  for (const word of words) {
    if (widthOf(line) + 1 + widthOf(word) <= width) line += ` ${word}`;
    else {
      lines.push(line);
      line = indent + word;
    }
  }
  return [...lines, line];
}

/** Begins a text with a capital, as a sentence. */
export function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

const MAX_DISTANCE = 3;

/**
 * The candidate that was most likely meant; undefined when none is near: less than half of the word may differ, and
 * three letters at most.
 */
export function suggestNearest(written: string, candidates: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let least = Math.min(MAX_DISTANCE, Math.ceil(written.length / 2) - 1) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - written.length) >= least) continue;
    const distance = measureDistance(written.toLowerCase(), candidate.toLowerCase());
    if (distance < least) [nearest, least] = [candidate, distance];
  }
  return nearest;
}

/** Letters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
function measureDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = at(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      let least = Math.min(at(last, column) + 1, at(current, column - 1) + 1, replaced);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        least = Math.min(least, at(beforeLast, column - 2) + 1);
      }
      current.push(least);
    }
    [beforeLast, last] = [last, current];
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
