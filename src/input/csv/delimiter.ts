import { CR, LF, QUOTE } from '../../domain/bytes/ascii.js';
import { refuse } from '../refusal.js';
import { countLines, type LineCount } from '../text/lines.js';

export type Delimiter = ',' | ';' | '\t' | '|';

const CANDIDATES: readonly Delimiter[] = [',', ';', '\t', '|'];
const BEYOND_ASCII = 0x80;
/** The ASCII characters that `trim` removes. */
const ASCII_BLANKS = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20]);

/** The delimiter of a file, and where its rows begin. */
export interface CsvStart {
  readonly delimiter: Delimiter;
  /** A sentence on what decided it. */
  readonly notice: string;
  /** Bytes of a first line such as `sep=;`, by which spreadsheets know the delimiter; it is no row. */
  readonly skippedBytes: number;
}

/**
 * The delimiter that the job or the first line states (`sep=;`), else the one that stands most often in the header, outside quotes;
 * a comma when the header has a single column. Refuses statements that differ, and a header in which two stand equally often.
 * `head` is the beginning of the file in UTF-8.
 */
export function findCsvStart(head: Uint8Array, stated: Delimiter | undefined, shown: string): CsvStart {
  const line = readSeparatorLine(head);
  if (line === undefined) {
    if (stated === undefined) return { ...detectDelimiter(head, shown), skippedBytes: 0 };
    return { delimiter: stated, notice: `the delimiter is ${nameDelimiter(stated)}, as stated`, skippedBytes: 0 };
  }
  const delimiter = CANDIDATES.find((candidate) => candidate === line.separator);
  if (delimiter === undefined || (stated !== undefined && stated !== delimiter)) {
    const expected = stated === undefined ? '"," ";" tab or "|"' : `${nameDelimiter(stated)}, as the job states`;
    throw refuse({
      where: `${shown}:1`,
      message: `the first line says that the delimiter is ${JSON.stringify(line.separator)}, expected ${expected}`,
      hint: 'Remove the first line of the file, or state the `delimiter` that the rows have.',
    });
  }
  const notice = `the delimiter is ${nameDelimiter(delimiter)}, as its first line says`;
  return { delimiter, notice, skippedBytes: line.bytes };
}

/** Longer than any `sep=` line. */
const SEPARATOR_LINE_BYTES = 32;

function readSeparatorLine(head: Uint8Array): { separator: string; bytes: number } | undefined {
  const begin = Buffer.from(head.subarray(0, SEPARATOR_LINE_BYTES)).toString('latin1');
  const [line, separator] = /^"?sep=([^\w\s"]|\t)"?[,;\t| ]*(?:\r\n|\n|\r|$)/i.exec(begin) ?? [];
  return line === undefined || separator === undefined ? undefined : { separator, bytes: line.length };
}

function detectDelimiter(head: Uint8Array, shown: string): { delimiter: Delimiter; notice: string } {
  const { counts, line } = findHeader(head);
  const countOf = (candidate: Delimiter) => counts[candidate.charCodeAt(0)] ?? 0;
  const most = Math.max(...CANDIDATES.map(countOf));
  if (most === 0) return { delimiter: ',', notice: 'the header has one column, so no delimiter was found in it' };
  const [delimiter, other] = CANDIDATES.filter((candidate) => countOf(candidate) === most);
  if (delimiter === undefined || other !== undefined) {
    throw refuse({
      where: `${shown}:${line}`,
      message: `the header has as many ${nameDelimiter(delimiter ?? ',')} as ${nameDelimiter(other ?? ',')}, expected one delimiter`,
      hint: 'State its `delimiter` where the job names the file.',
    });
  }
  return { delimiter, notice: `the delimiter is ${nameDelimiter(delimiter)}, found from the header` };
}

/** For people: a tab cannot be seen. */
function nameDelimiter(delimiter: Delimiter): string {
  return delimiter === '\t' ? 'tab' : `"${delimiter}"`;
}

/** Whether the header stands whole in the head of a file. */
export function isHeaderWhole(head: Uint8Array): boolean {
  const skipped = readSeparatorLine(head)?.bytes ?? 0;
  return findHeader(head.subarray(skipped)).end !== undefined;
}

/** The header is the first line that is not blank; quotes may carry it over several. */
function findHeader(head: Uint8Array): { counts: Uint32Array; line: number; end: number | undefined } {
  let counts = new Uint32Array(128);
  let isQuoted = false;
  let isFieldStart = true;
  let hasText = false;
  let start = 0;
  for (const [index, byte] of head.entries()) {
    if (byte === QUOTE) {
      const quote = readQuote({ isQuoted, isFieldStart, isSecond: head[index - 1] === QUOTE });
      hasText ||= quote.isText;
      isQuoted = quote.isOpening;
      isFieldStart = false;
    } else if (!isQuoted && (byte === LF || byte === CR)) {
      if (hasText || hasTextBeyondAscii(head.subarray(start, index))) {
        return { counts, line: countLineOf(head, start), end: index };
      }
      counts = new Uint32Array(128);
      isFieldStart = true;
      start = index + 1;
    } else if (!isQuoted && CANDIDATES.includes(String.fromCharCode(byte) as Delimiter)) {
      counts[byte] = (counts[byte] ?? 0) + 1;
      isFieldStart = true;
    } else {
      hasText ||= byte < BEYOND_ASCII && !ASCII_BLANKS.has(byte);
      isFieldStart = false;
    }
  }
  return { counts, line: countLineOf(head, start), end: undefined };
}

/** In quotes it ends them, or with the one behind it is a quote that belongs to the text; elsewhere it opens a field or is text. */
function readQuote(at: { isQuoted: boolean; isFieldStart: boolean; isSecond: boolean }) {
  if (at.isQuoted || at.isFieldStart) return { isOpening: !at.isQuoted, isText: false };
  return { isOpening: at.isSecond, isText: true };
}

/** Whether a line without ASCII text has other text: blanks such as U+00A0 are none. */
function hasTextBeyondAscii(line: Uint8Array): boolean {
  const text = Buffer.from(line).toString('utf8');
  return text.replace(/[",;\t|]/g, '').trim() !== '';
}

/** The line of the file that begins at `start`. */
function countLineOf(head: Uint8Array, start: number): number {
  const count: LineCount = { line: 1, wasCr: false };
  countLines(count, head.subarray(0, start));
  return count.line;
}
