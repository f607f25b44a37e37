import { isObject } from '../../domain/is-object.js';
import type { Rejection } from '../../domain/row.js';
import type { RejectionCode } from '../../domain/row-codes.js';
import { trimEndOf } from '../../domain/text.js';
import { FORBIDDEN_NAMES } from '../record-reader.js';

/** Deeper than any field of the service; JSON.stringify and the walk here recurse. */
const MAX_DEPTH = 64;

type JsonRow =
  /** Numbers that JSON.stringify would change are kept as text, and so are objects and arrays that hold one. */
  | { readonly ok: true; readonly values: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly fault: Rejection };

/** Reads a line as one object; what JSON.parse would silently change or drop is a fault. */
export function parseJsonRow(text: string): JsonRow {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refuseRow('bad-json', `the line is not valid JSON${describePosition(error)}, expected one object`);
  }
  if (!isObject(value)) return refuseRow('not-an-object', `the line is ${nameKind(value)}, expected an object`);
  const fault = inspectValue(value, text.includes('\\u'), 1);
  if (fault !== undefined) return { ok: false, fault };
  // Most lines are as JSON.stringify writes them: then nothing was changed or dropped.
  if (JSON.stringify(value) === text) return { ok: true, values: value };
  const tokens = listTokens(text);
  const repeatedKey = findRepeatedKey(tokens);
  if (repeatedKey !== undefined) {
    const reason = `the key ${JSON.stringify(repeatedKey)} occurs twice, expected once`;
    return { ok: false, fault: reject('duplicate-key', reason, repeatedKey) };
  }
  const numbers = tokens.filter((token) => /^-?\d/.test(token));
  const lossy = numbers.find(losesDigits);
  if (lossy !== undefined) {
    const reason = `the number ${lossy} would lose digits, expected it in quotes, as text`;
    return { ok: false, fault: reject('number-loses-digits', reason) };
  }
  // Such as 1.10, 1e2 and -0.
  const isRewritten = numbers.some((number) => number !== String(Number(number)));
  return { ok: true, values: isRewritten ? keepSources(value, readSources(tokens)) : value };
}

/** Lists the tokens of valid JSON: strings with their quotes, numbers, and each other character but blanks. */
function listTokens(text: string): string[] {
  const tokens: string[] = [];
  const addOthers = (between: string) => {
    for (const [token] of between.matchAll(/-?\d[\d.eE+-]*|\S/g)) tokens.push(token);
  };
  let end = 0;
  let start = -1;
  for (const { 0: mark, index } of text.matchAll(/\\.|"/gs)) {
    if (mark !== '"') continue;
    if (start === -1) {
      addOthers(text.slice(end, index));
      start = index;
    } else {
      end = index + 1;
      tokens.push(text.slice(start, end));
      start = -1;
    }
  }
  addOthers(text.slice(end));
  return tokens;
}

/** Numbers, objects and arrays as they are written. */
function keepSources(value: Record<string, unknown>, sources: ReadonlyMap<string, string>): Record<string, unknown> {
  const isKept = (part: unknown) => typeof part === 'number' || (typeof part === 'object' && part !== null);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, isKept(part) ? sources.get(key) : part]));
}

function findRepeatedKey(tokens: readonly string[]): string | undefined {
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

/** The values of the object by their keys: as written, but for blanks, and with strings in their shortest form. */
function readSources(tokens: readonly string[]): Map<string, string> {
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

function losesDigits(written: string): boolean {
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

/** Walks the whole value, which stands so deep. */
function inspectValue(value: unknown, hasEscapes: boolean, depth: number): Rejection | undefined {
  if (typeof value === 'string') return hasEscapes ? findEscapeFault(value) : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > MAX_DEPTH) return reject('bad-json', `the line nests more than ${MAX_DEPTH} levels deep, expected fewer`);
  const names = Array.isArray(value) ? [] : Object.keys(value);
  const name = names.find((candidate) => FORBIDDEN_NAMES.has(candidate));
  if (name !== undefined) return reject('forbidden-key', `the key ${name} is not allowed`, name);
  let fault = hasEscapes ? findEscapeFault(names.join('\n')) : undefined;
  for (const part of Object.values(value)) fault ??= inspectValue(part, hasEscapes, depth + 1);
  return fault;
}

/** NUL, or half of a character: they can only come from an escape, and no text may hold them. */
function findEscapeFault(text: string): Rejection | undefined {
  if (text.includes('\0')) {
    return reject('nul', 'the line has an escape (\\u0000) that is NUL, expected text');
  }
  if (!/\p{Surrogate}/u.test(text)) return undefined;
  return reject(
    'lone-surrogate',
    'the line has an escape (\\uD800 to \\uDFFF) that is half a character, expected both halves',
  );
}

function nameKind(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

/** The position alone: the rest of the error's text is the line's content. */
function describePosition(error: unknown): string {
  const position = /at position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  return position === undefined ? '' : ` (from character ${Number(position) + 1} on)`;
}

function refuseRow(code: RejectionCode, reason: string): JsonRow {
  return { ok: false, fault: reject(code, reason) };
}

function reject(code: RejectionCode, reason: string, field = ''): Rejection {
  return { stage: 'read', field, code, reason };
}
