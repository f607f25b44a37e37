import { findStringEnd } from './json-scan.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);
const UNQUOTED = /[^"]+/y;

/**
 * Replaces an object's numbers, objects and arrays by their source text instead of what JSON.stringify would write:
 * numbers digit by digit, strings in their shortest form, no blanks. `value` is what JSON.parse makes of the text.
 */
export function keepSourceText(text: string, value: Record<string, unknown>): void {
  let depth = 0;
  let string = '';
  let key: string | undefined;
  let start = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      const end = findStringEnd(text, index);
      if (key === undefined) string = text.slice(index, end + 1);
      index = end;
    } else if (code === COLON && key === undefined) {
      key = readString(string);
      start = index + 1;
    } else if (depth === 1 && key !== undefined && (code === COMMA || CLOSING.has(code))) {
      keepPart(value, key, text.slice(start, index));
      key = undefined;
    } else if (OPENING.has(code)) depth += 1;
    else if (CLOSING.has(code)) depth -= 1;
  }
}

function keepPart(value: Record<string, unknown>, key: string, part: string): void {
  const read = value[key];
  if (typeof read === 'number') value[key] = part.trim();
  else if (typeof read === 'object' && read !== null) value[key] = compact(part);
}

/** Without blanks between the parts, and with strings in their shortest form. */
function compact(text: string): string {
  let compacted = '';
  for (let index = 0; index < text.length; ) {
    if (text.charCodeAt(index) === QUOTE) {
      const end = findStringEnd(text, index) + 1;
      compacted += JSON.stringify(readString(text.slice(index, end)));
      index = end;
    } else {
      UNQUOTED.lastIndex = index;
      const between = UNQUOTED.exec(text)?.[0] ?? '';
      compacted += between.replace(/\s+/g, '');
      index += between.length;
    }
  }
  return compacted;
}

/** A string with its quotes. */
function readString(written: string): string {
  return written.includes('\\') ? JSON.parse(written) : written.slice(1, -1);
}
