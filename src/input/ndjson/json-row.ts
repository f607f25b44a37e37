import { isObject } from '../../domain/is-object.js';
import type { Rejection } from '../../domain/row.js';
import type { RejectionCode } from '../../domain/row-codes.js';
import { FORBIDDEN_NAMES } from '../record-reader.js';
import { findLossyNumber, findRepeatedKey, isRewritten, listTokens, readSources } from './json-scan.js';

/** Deeper than any field of the service; JSON.stringify and the walk here recurse. */
const MAX_DEPTH = 64;

export type JsonRow =
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
  const lossyNumber = findLossyNumber(tokens);
  if (lossyNumber !== undefined) {
    const reason = `the number ${lossyNumber} would lose digits, expected it in quotes, as text`;
    return { ok: false, fault: reject('number-loses-digits', reason) };
  }
  return { ok: true, values: isRewritten(tokens) ? keepSources(value, readSources(tokens)) : value };
}

/** Numbers, objects and arrays as they are written. */
function keepSources(value: Record<string, unknown>, sources: ReadonlyMap<string, string>): Record<string, unknown> {
  const isKept = (part: unknown) => typeof part === 'number' || (typeof part === 'object' && part !== null);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, isKept(part) ? sources.get(key) : part]));
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
