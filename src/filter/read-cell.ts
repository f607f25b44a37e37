import type { ByteCells } from '../domain/bytes/row-block.js';
import { isBlank } from '../domain/text.js';
import { rewriteNumber } from '../template/number-input.js';

/** A test of one cell. */
export interface CompiledTest {
  /** Of a cell as text, and of the row that it stands in; undefined where it cannot be read as what it is compared with. A blank one holds for `blank` alone. */
  holds(text: string, cells: ByteCells): boolean | undefined;
  /** What a cell is not that cannot be compared, for people. */
  readonly expected: string;
  /** What to write in the job where all cells are so. */
  readonly advice?: string;
}

const ASCII = /^[\0-\x7f]*$/;

/** How texts are compared: without the blanks around them (the invisible ones too) and without case. Composed and decomposed letters are the same. */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.trim().toLowerCase();
  // By way of capitals, ß is ss, and the two small sigmas are one.
  return trimBlanks(text).normalize('NFC').toUpperCase().toLowerCase();
}

function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text[start])) start += 1;
  while (end > start && isBlank(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

const NUMBER = /^[+-]?(\d+)(?:\.(\d+))?(?:[eE][+-]?\d{1,3})?$/;
/** Numbers of more digits may be equal to another one. */
const MAX_EXACT_DIGITS = 15;

/** May be 1234 or 1.234: only a format says which. */
const AMBIGUOUS = /^[+-]?[1-9]\d{0,2}\.\d{3}$/;

/**
 * Reads cells as `format` says, blanks around them aside; without one a point and no separators of thousands, where 1.234 could be
 * either. Undefined for what is not written so, and for a number of too many digits.
 */
export function createNumberReader(format: string | undefined): (text: string) => number | undefined {
  if (format === undefined) return (text) => (AMBIGUOUS.test(text.trim()) ? undefined : readNumber(text));
  return (text) => {
    const plain = rewriteNumber(text, format);
    return plain === undefined ? undefined : readNumber(plain);
  };
}

function readNumber(text: string): number | undefined {
  const match = NUMBER.exec(text.trim());
  if (match === null) return undefined;
  const digits = `${match[1]}${match[2] ?? ''}`.replace(/^0+/, '').length;
  return digits > MAX_EXACT_DIGITS ? undefined : Number(match[0]);
}
