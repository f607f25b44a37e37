import { rewriteNumber } from '../template/number-input.js';

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
