import type { Cell } from '../domain/row.js';

const BLANK = /^[\s\u200B-\u200D\u2060]*$/;

/** Whether a cell has nothing to show: empty, or blanks only, the invisible ones too. */
export function isBlank(cell: Cell): cell is '' | undefined {
  if (cell === undefined || cell === '') return true;
  const first = cell.charCodeAt(0);
  // Fast path: most cells begin with a letter or a digit.
  return (first <= 0x20 || first >= 0x7f) && BLANK.test(cell);
}
