import { trimEndOf } from '../../domain/trim-end.js';

/** What JSON.parse does not report of an object that it accepts, from its tokens. */

const NUMBER = /-?\d[\d.eE+-]*/y;
/** Every number of so few characters, without an exponent, is read and written back digit by digit. */
const SAFE_NUMBER_LENGTH = 15;

/** Strings with their quotes, numbers, and each other character but blanks. */
export function listTokens(text: string): string[] {
  const tokens: string[] = [];
  for (let at = 0; at < text.length; ) {
    const token = readToken(text, at);
    at += token.length;
    if (token.trim() !== '') tokens.push(token);
  }
  return tokens;
}

/** The first key that stands twice in its object. */
export function findRepeatedKey(tokens: readonly string[]): string | undefined {
  const open: Set<string>[] = [];
  for (const [at, token] of tokens.entries()) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    if (token !== ':') continue;
    const key: string = JSON.parse(tokens[at - 1] as string);
    const keys = open.at(-1);
    if (keys?.has(key)) return key;
    keys?.add(key);
  }
  return undefined;
}

/** The first number that parsing changes, as written. */
export function findLossyNumber(tokens: readonly string[]): string | undefined {
  return tokens.find((token) => isNumber(token) && losesDigits(token));
}

/** Whether there is a number that JSON.stringify writes otherwise: `1.10`, `1e2`, `-0`. */
export function isRewritten(tokens: readonly string[]): boolean {
  return tokens.some((token) => isNumber(token) && !isCanonical(token));
}

/** The values of the object by their keys: as written, but for blanks, and with strings in their shortest form. */
export function readSources(tokens: readonly string[]): Map<string, string> {
  const sources = new Map<string, string>();
  let depth = 0;
  let key = '';
  let source = '';
  for (const token of tokens) {
    if (depth === 1 && token === ':') {
      key = JSON.parse(source);
      source = '';
    } else if (depth === 1 && (token === ',' || token === '}')) {
      sources.set(key, source);
      source = '';
    } else if (depth > 0) source += token.includes('\\') ? JSON.stringify(JSON.parse(token)) : token;
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
  }
  return sources;
}

/** A string with its quotes, a number, or one character. */
function readToken(text: string, start: number): string {
  const first = text.charAt(start);
  if (first === '"') return text.slice(start, findStringEnd(text, start) + 1);
  if (!isNumber(first)) return first;
  NUMBER.lastIndex = start;
  return NUMBER.exec(text)?.[0] ?? first;
}

function isNumber(token: string): boolean {
  return token >= '-' && token < ':' && token !== '.' && token !== '/';
}

/** Index of the quote that closes the string. */
function findStringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length - 1 : end;
}

function isEscaped(text: string, index: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(index - 1 - slashes) === 0x5c) slashes += 1;
  return slashes % 2 === 1;
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
