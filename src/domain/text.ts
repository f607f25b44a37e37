import type { Cell } from './row.js';

/** A text without the characters at its end that are among `characters`; `/…+$/` would begin anew at each such character inside it. */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

const BLANK = /^[\s\u200B-\u200D\u2060]*$/;

/** Whether a cell has nothing to show: empty, or blanks only, the invisible ones too. */
export function isBlank(cell: Cell): cell is '' | undefined {
  if (cell === undefined || cell === '') return true;
  const first = cell.charCodeAt(0);
  // Fast path: most cells begin with a letter or a digit.
  return (first <= 0x20 || first >= 0x7f) && BLANK.test(cell);
}

/** How names of columns are compared: letters, marks and digits only, lower case; full-width forms as the plain ones. */
export function foldName(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '');
}
