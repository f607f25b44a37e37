import { findStringEnd } from './json-scan.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);
const UNQUOTED = /[^"]+/y;

/**
 * Those values of an object that are numbers, objects or arrays, as they are written and not as JSON.stringify would write them:
 * numbers digit by digit, strings in their shortest writing, no blanks. For a line that JSON.parse accepts.
 */
export function listWritten(text: string, value: Readonly<Record<string, unknown>>): Record<string, string> {
  const written: Record<string, string> = {};
  for (const { key, part } of listMembers(text)) {
    const read = value[key];
    if (typeof read === 'number') written[key] = part.trim();
    else if (typeof read === 'object' && read !== null) written[key] = compact(part);
  }
  return written;
}

/** The keys of an object, and the text of their values. */
function* listMembers(text: string): Generator<{ key: string; part: string }> {
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
      yield { key, part: text.slice(start, index) };
      key = undefined;
    } else if (OPENING.has(code)) depth += 1;
    else if (CLOSING.has(code)) depth -= 1;
  }
}

/** Without blanks between the parts, and with strings in their shortest writing. */
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
