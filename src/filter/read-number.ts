const NUMBER = /^[+-]?(\d+)(?:\.(\d+))?(?:[eE][+-]?\d{1,3})?$/;
/** Numbers of more digits may be equal to another one. */
export const MAX_EXACT_DIGITS = 15;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

/** A number written with a point and no separators of thousands, blanks around it aside; undefined for anything else, and for one of too many digits. */
export function readNumber(text: string): number | undefined {
  const match = NUMBER.exec(text.trim());
  if (match === null) return undefined;
  const digits = `${match[1]}${match[2] ?? ''}`.replace(/^0+/, '').length;
  return digits > MAX_EXACT_DIGITS ? undefined : Number(match[0]);
}

/** The same of the bytes of a cell, without an exponent; undefined where the text must be looked at. */
export function readNumberBytes(bytes: Uint8Array, start: number, end: number): number | undefined {
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
  if (at === from || end - from > MAX_EXACT_DIGITS) return undefined;
  const size = scale > 1 ? value / scale : value;
  return first === MINUS ? -size : size;
}
