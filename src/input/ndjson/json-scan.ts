import { trimEndOf } from '../../domain/trim-end.js';

/**
 * What JSON.parse does not report: repeated keys, numbers that lose digits, and the depth. Scans a line without
 * checking its syntax: correct for what JSON.parse accepts, and it terminates for everything else.
 */
export interface JsonScan {
  readonly depth: number;
  /** Keys of all objects, as written: more than the parsed value has when one stands twice. */
  readonly keys: number;
  /** The first number that parsing changes, as written. */
  readonly lossyNumber: string | undefined;
  /** Whether there is a number that JSON.stringify writes otherwise: `1.10`, `1e2`, `-0`. */
  readonly isRewritten: boolean;
}

const QUOTE = 0x22;
const COLON = 0x3a;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);
const NUMBER = /-?\d[\d.eE+-]*/y;
/** Every number of so few characters, without an exponent, is read and written back digit by digit. */
const SAFE_NUMBER_LENGTH = 15;

export function scanJson(text: string): JsonScan {
  let depth = 0;
  let deepest = 0;
  let keys = 0;
  let lossyNumber: string | undefined;
  let isRewritten = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      index = findStringEnd(text, index);
      if (isKeyEnd(text, index)) keys += 1;
    } else if (isNumberStart(code)) {
      const written = readNumber(text, index);
      if (lossyNumber === undefined && losesDigits(written)) lossyNumber = written;
      isRewritten ||= !isCanonical(written);
      index += written.length - 1;
    } else if (OPENING.has(code)) {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (CLOSING.has(code)) {
      depth -= 1;
    }
  }
  return { depth: deepest, keys, lossyNumber, isRewritten };
}

/** The first key that stands twice in its object; for a line that JSON.parse accepts. */
export function findDuplicateKey(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (OPENING.has(code)) open.push(new Set());
    else if (CLOSING.has(code)) open.pop();
    if (code !== QUOTE) continue;
    const start = index;
    index = findStringEnd(text, index);
    if (!isKeyEnd(text, index)) continue;
    const key: unknown = JSON.parse(text.slice(start, index + 1));
    const seen = open.at(-1);
    if (typeof key !== 'string' || seen === undefined) continue;
    if (seen.has(key)) return key;
    seen.add(key);
  }
  return undefined;
}

/** Index of the quote that closes the string, or of the last character when none does. */
export function findStringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length - 1 : end;
}

function isEscaped(text: string, index: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(index - 1 - slashes) === 0x5c) slashes += 1;
  return slashes % 2 === 1;
}

function isKeyEnd(text: string, end: number): boolean {
  let next = end + 1;
  while (text.charCodeAt(next) <= 0x20) next += 1;
  return text.charCodeAt(next) === COLON;
}

function isNumberStart(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2d;
}

function readNumber(text: string, start: number): string {
  NUMBER.lastIndex = start;
  return NUMBER.exec(text)?.[0] ?? '-';
}

function isCanonical(written: string): boolean {
  const isWhole = written.length <= SAFE_NUMBER_LENGTH && !/[.eE]/.test(written);
  return isWhole ? written !== '-0' : written === String(Number(written));
}

function losesDigits(written: string): boolean {
  if (written.length <= SAFE_NUMBER_LENGTH && !/[eE]/.test(written)) return false;
  const read = Number(written);
  return !Number.isFinite(read) || significantDigits(written) !== significantDigits(String(read));
}

/** A decimal number as its digits from the first to the last that is not 0, and the power of ten that they begin at. */
function significantDigits(written: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(written) ?? [];
  const digits = whole + fraction;
  const leading = /^0*/.exec(digits)?.[0].length ?? 0;
  const trimmed = trimEndOf(digits.slice(leading), '0');
  return trimmed === '' ? '0' : `${trimmed}e${Number(exponent) + whole.length - leading}`;
}
