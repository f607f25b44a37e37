import { rewriteNumber } from '../template/number-input.js';

const NUMBER = /^[+-]?(\d+)(?:\.(\d+))?(?:[eE][+-]?\d{1,3})?$/;
/** Numbers of more digits may be equal to another one. */
const MAX_EXACT_DIGITS = 15;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const THREE_DECIMALS = 1000;

/** May be 1234 or 1.234: only a format says which. */
const AMBIGUOUS = /^[+-]?[1-9]\d{0,2}\.\d{3}$/;

interface NumberReader {
  /** Undefined for what is not written so, and for a number of too many digits. */
  ofText(text: string): number | undefined;
  /** The same of the bytes of a cell; undefined where the text must be looked at. */
  ofBytes?(bytes: Uint8Array, start: number, end: number): number | undefined;
}

/** Reads cells as `format` says, blanks around them aside; without one a point and no separators of thousands, where 1.234 could be either. */
export function createNumberReader(format: string | undefined): NumberReader {
  if (format === undefined)
    return { ofText: (text) => (AMBIGUOUS.test(text.trim()) ? undefined : readNumber(text)), ofBytes: readNumberBytes };
  return {
    ofText: (text) => {
      const plain = rewriteNumber(text, format);
      return plain === undefined ? undefined : readNumber(plain);
    },
  };
}

function readNumber(text: string): number | undefined {
  const match = NUMBER.exec(text.trim());
  if (match === null) return undefined;
  const digits = `${match[1]}${match[2] ?? ''}`.replace(/^0+/, '').length;
  return digits > MAX_EXACT_DIGITS ? undefined : Number(match[0]);
}

/** Of the bytes of a cell without an exponent; undefined where the text must be looked at. */
function readNumberBytes(bytes: Uint8Array, start: number, end: number): number | undefined {
  const first = bytes[start];
  let at = first === PLUS || first === MINUS ? start + 1 : start;
  const from = at;
  let value = 0;
  let scale = 0;
  for (; at < end; at += 1) {
    const byte = bytes[at] as number;
    if (byte >= ZERO && byte <= NINE) {
      value = value * 10 + byte - ZERO;
      scale *= 10;
    } else if (byte === POINT && scale === 0 && at > from && at + 1 < end) scale = 1;
    else return undefined;
  }
  if (at === from || end - from > MAX_EXACT_DIGITS || scale === THREE_DECIMALS) return undefined;
  const size = scale > 1 ? value / scale : value;
  return first === MINUS ? -size : size;
}
