import { isObject } from '../../domain/is-object.js';
import type { Rejection } from '../../domain/row.js';
import type { RejectionCode } from '../../domain/row-codes.js';
import { FORBIDDEN_NAMES } from '../record-reader.js';
import { findDuplicateKey, scanJson } from './json-scan.js';
import { keepSourceText } from './json-source-text.js';

/** Deeper than any field of the service; JSON.stringify and our own walk recurse. */
const MAX_DEPTH = 64;

export type JsonRow =
  /** Numbers that JSON.stringify would change are kept as text, and so are objects and arrays that hold one. */
  | { readonly ok: true; readonly values: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly fault: Rejection };

/** Reads a line as one object; what JSON.parse would silently change or drop is a fault. */
export function parseJsonRow(text: string): JsonRow {
  const scan = scanJson(text);
  if (scan.depth > MAX_DEPTH) {
    return refuseRow('bad-json', `the line nests more than ${MAX_DEPTH} levels deep, expected fewer`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refuseRow('bad-json', `the line is not valid JSON${describePosition(error)}, expected one object`);
  }
  if (!isObject(value)) return refuseRow('not-an-object', `the line is ${nameKind(value)}, expected an object`);
  const fault = findFault(value, text, scan.depth === 1 && !text.includes('\\u'), scan);
  if (fault !== undefined) return { ok: false, fault };
  if (scan.isRewritten) keepSourceText(text, value);
  return { ok: true, values: value };
}

function findFault(
  value: Readonly<Record<string, unknown>>,
  text: string,
  isPlain: boolean,
  { keys, lossyNumber }: { keys: number; lossyNumber: string | undefined },
): Rejection | undefined {
  const known = isPlain ? inspectNames(Object.keys(value)) : inspectValue(value);
  if (known.fault !== undefined) return known.fault;
  if (known.keys !== keys) {
    const name = findDuplicateKey(text) ?? '';
    return reject('duplicate-key', `the key ${JSON.stringify(name)} occurs twice, expected once`, name);
  }
  if (lossyNumber === undefined) return undefined;
  const reason = `the number ${lossyNumber} would lose digits, expected it in quotes, as text`;
  return reject('number-loses-digits', reason);
}

interface Inspection {
  readonly keys: number;
  readonly fault: Rejection | undefined;
}

function inspectNames(names: readonly string[]): Inspection {
  const name = names.find((candidate) => FORBIDDEN_NAMES.has(candidate));
  const fault = name === undefined ? undefined : reject('forbidden-key', `the key ${name} is not allowed`, name);
  return { keys: names.length, fault };
}

/** Walks the whole value; its depth has been checked. */
function inspectValue(value: unknown): Inspection {
  if (typeof value === 'string') return { keys: 0, fault: findEscapeFault(value) };
  if (typeof value !== 'object' || value === null) return { keys: 0, fault: undefined };
  const names = Array.isArray(value) ? [] : Object.keys(value);
  const own = inspectNames(names);
  let { keys } = own;
  let fault = own.fault ?? findEscapeFault(names.join('\n'));
  for (const part of Object.values(value)) {
    const inner = inspectValue(part);
    keys += inner.keys;
    fault ??= inner.fault;
  }
  return { keys, fault };
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
