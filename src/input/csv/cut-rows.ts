import type { RowWriter } from '../../domain/bytes/row-writer.js';
import { BACKSLASH, CLOSING, COMMA, CR, EQUALS, LF, OPENING, QUOTE, SPACE } from '../../domain/bytes/text-buffer.js';
import type { ReadLimits } from '../../job/job.js';
import { refuse } from '../record-reader.js';

/** What a byte means: itself, a character that JSON escapes, or an end (of the cell, of the row, of what is cut). */
const ITSELF = 0;
const ESCAPED = 1;
const END = 2;
/** JSON writes a byte as six at most: `\u001f`. */
const MOST_BYTES_A_BYTE = 6;
/** How JSON writes what it escapes. */
const ESCAPES: readonly Buffer[] = Array.from({ length: BACKSLASH + 1 }, (_, byte) =>
  Buffer.from(JSON.stringify(String.fromCharCode(byte)).slice(1, -1)),
);

/** Longer rows are left to csv-parse: each that is cut reserves as much. */
const MOST_CUT_BYTES = 64 * 1024;

/**
 * Cuts CSV into rows: those whose fields have no quotes or are quoted from end to end, within the limits. Its result equals that of
 * csv-parse.
 */
export class RowCutter {
  /** Whether a field of the row that was cut last holds a line end. */
  isSpanning = false;
  readonly #delimiter: number;
  readonly #maxBytes: number;
  readonly #maxFieldBytes: number;
  readonly #meanings: Uint8Array;
  readonly #meaningsInQuotes: Uint8Array;
  /** Where it reads, how far, and where it writes. */
  #at = 0;
  #end = 0;
  #to = 0;

  constructor(
    delimiter: Delimiter,
    { maxLineBytes, maxFieldBytes }: Pick<ReadLimits, 'maxLineBytes' | 'maxFieldBytes'>,
  ) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#maxBytes = Math.min(maxLineBytes, MOST_CUT_BYTES);
    this.#maxFieldBytes = maxFieldBytes;
    this.#meanings = listMeanings([LF, CR, QUOTE, this.#delimiter]);
    this.#meaningsInQuotes = listMeanings([QUOTE]);
  }

  /**
   * Opens a row in `rows` for the one that begins at `start`, where no line end stands, and returns where the line behind it
   * begins; -1 where it is not cut: it is beyond the limits, has a fault or a formula, or does not end, yet.
   */
  cut(bytes: Uint8Array, start: number, rows: RowWriter): number {
    const { bytes: json, start: jsonStart } = rows.open((this.#maxBytes + 2) * MOST_BYTES_A_BYTE);
    this.#at = start;
    this.#end = Math.min(bytes.length, start + this.#maxBytes);
    this.#to = jsonStart;
    this.isSpanning = false;
    json[this.#to++] = OPENING;
    for (;;) {
      const field = this.#at;
      json[this.#to++] = QUOTE;
      if (bytes[field] !== QUOTE) this.#copy(bytes, json, this.#meanings);
      else if (bytes[field + 1] === EQUALS || !this.#copyQuoted(bytes, json)) return -1;
      if (this.#at > this.#end || this.#at - field > this.#maxFieldBytes) return -1;
      rows.endCell(this.#to);
      json[this.#to++] = QUOTE;
      if (bytes[this.#at] !== this.#delimiter) break;
      json[this.#to++] = COMMA;
      this.#at += 1;
    }
    const ended = lineEndAt(bytes, this.#at);
    if (ended === 0) return -1;
    json[this.#to++] = CLOSING;
    json[this.#to] = LF;
    rows.endRow(this.#to);
    return this.#at + ended;
  }

  /** Copies up to an end. */
  #copy(bytes: Uint8Array, json: Uint8Array, meanings: Uint8Array): void {
    const end = this.#end;
    let at = this.#at;
    let to = this.#to;
    for (; at < end; at += 1) {
      const byte = bytes[at] as number;
      const meaning = meanings[byte];
      if (meaning === ITSELF) json[to++] = byte;
      else if (meaning === ESCAPED) {
        if (byte === LF || byte === CR) this.isSpanning = true;
        for (const written of ESCAPES[byte] as Buffer) json[to++] = written;
      } else break;
    }
    this.#at = at;
    this.#to = to;
  }

  /** Copies from one quote to the other; false where none follows. */
  #copyQuoted(bytes: Uint8Array, json: Uint8Array): boolean {
    for (;;) {
      this.#at += 1;
      this.#copy(bytes, json, this.#meaningsInQuotes);
      if (bytes[this.#at] !== QUOTE) return false;
      this.#at += 1;
      if (bytes[this.#at] !== QUOTE) return true;
      json[this.#to++] = BACKSLASH;
      json[this.#to++] = QUOTE;
    }
  }
}

/** Bytes of the line end at `at`: 0 where none stands, or a LF may still follow. */
export function lineEndAt(bytes: Uint8Array, at: number): number {
  if (bytes[at] === LF) return 1;
  if (bytes[at] !== CR || at + 1 === bytes.length) return 0;
  return bytes[at + 1] === LF ? 2 : 1;
}

function listMeanings(ends: readonly number[]): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => {
    if (ends.includes(byte)) return END;
    return byte < SPACE || byte === BACKSLASH || byte === QUOTE ? ESCAPED : ITSELF;
  });
}

export type Delimiter = ',' | ';' | '\t' | '|';

const CANDIDATES: readonly Delimiter[] = [',', ';', '\t', '|'];

/** The delimiter of a file, and where its rows begin. */
interface CsvStart {
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
export function findCsvStart(head: Buffer, stated: Delimiter | undefined, shown: string): CsvStart {
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

function readSeparatorLine(head: Buffer): { separator: string; bytes: number } | undefined {
  const begin = head.toString('latin1', 0, SEPARATOR_LINE_BYTES);
  const [line, separator] = /^"?sep=([^\w\s"]|\t)"?[,;\t| ]*(?:\r\n|\n|\r|$)/i.exec(begin) ?? [];
  return line === undefined || separator === undefined ? undefined : { separator, bytes: line.length };
}

function detectDelimiter(head: Buffer, shown: string): { delimiter: Delimiter; notice: string } {
  const { header, line } = findHeader(head);
  const countOf = (candidate: Delimiter) => header.split(candidate).length - 1;
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

/** Names a delimiter for people: a tab cannot be seen. */
function nameDelimiter(delimiter: Delimiter): string {
  return delimiter === '\t' ? 'tab' : `"${delimiter}"`;
}

const QUOTED = /(?<=^|[,;\t|\r\n])"[^"]*(?:""[^"]*)*"?/g;

/** The first line that is not blank, without what stands in quotes: that may hold delimiters, and carry it over several lines. */
function findHeader(head: Buffer): { header: string; line: number } {
  const shorten = (quoted: string) => (quoted.replaceAll('"', '').trim() === '' ? '' : 'quoted');
  const lines = head
    .toString('utf8')
    .replace(QUOTED, shorten)
    .split(/\r\n|\n|\r/);
  const index = lines.findIndex((line) => line.replace(/[",;\t|]/g, '').trim() !== '');
  return { header: lines[index] ?? '', line: index + 1 };
}
