import { CsvError, type Options, parse } from 'csv-parse/sync';
import type { RowWriter } from '../../domain/bytes/row-writer.js';
import { CR, LF, QUOTE } from '../../domain/bytes/text-buffer.js';
import { countOf } from '../../domain/count-of.js';
import { InternalError, type UserError } from '../../domain/errors.js';
import { readTextFormula } from '../../domain/formula-cell.js';
import { exceedsBytes } from '../../domain/text.js';
import type { ReadLimits } from '../../job/job.js';
import { refuse } from '../record-reader.js';
import { countLineEnds } from '../text/decode-text.js';
import { type Delimiter, lineEndAt, RowCutter } from './cut-rows.js';

/** Fields such as `="0151"`, by which exports keep a spreadsheet from changing a text, and which they often do not put in quotes. */
const FORMULAS = /(?<=^|[,;\t|])="([^"\r\n,;\t|]*)"(?=[,;\t|\r\n]|$)/g;

/** The longest line end, CRLF. */
const LINE_END_BYTES = 2;

/**
 * Rows from the text of a CSV file. Nearly all are cut here, in a fifth of the time that csv-parse takes. Of the others, which are long or
 * have a fault or a formula, the end is sought, where a line ends outside of quotes; csv-parse alone says what such a row holds, or what is wrong with it.
 */
export class CsvRows {
  /** The line on which the row begins that `next` found. */
  line = 0;
  /** Its cells, where it was not cut. */
  cells: string[] | undefined;
  /** Whether it holds line ends. */
  isSpanning = false;
  /** How many blank lines stand before that row; they are skipped. */
  blankLines = 0;
  readonly #limits: ReadLimits;
  readonly #place: (line: number) => string;
  readonly #cutter: RowCutter;
  readonly #options: Options;
  #bytes: Buffer = Buffer.alloc(0);
  #isEnded = false;
  /** Where the last row ends, then the number of the line that begins there. */
  #end = 0;
  #nextLine: number;
  /** Blank lines there, which count once a row follows. */
  #blank = 0;
  /** How far the end of a row was sought. */
  #sought = { start: 0, to: 0, isQuoted: false };

  /** `firstLine`: the line of the file on which what is given begins; `place`: of a line, for people. */
  constructor(
    delimiter: Delimiter,
    limits: ReadLimits,
    { firstLine = 1, place }: { firstLine?: number; place: (line: number) => string },
  ) {
    this.#limits = limits;
    this.#place = place;
    this.#nextLine = firstLine;
    this.#cutter = new RowCutter(delimiter, limits);
    this.#options = { columns: false, delimiter, record_delimiter: ['\r\n', '\n', '\r'], relax_column_count: true };
  }

  /** The next piece of UTF-8, once no row is left; undefined at the end of the file. */
  give(piece: Buffer | undefined): void {
    const rest = this.#bytes.subarray(this.#end);
    this.#isEnded = piece === undefined;
    const more = piece ?? (rest.length === 0 ? rest : Buffer.from('\n'));
    this.#bytes = rest.length === 0 ? more : Buffer.concat([rest, more]);
    const { start, to, isQuoted } = this.#sought;
    this.#sought = { start: start - this.#end, to: to - this.#end, isQuoted };
    this.#end = 0;
  }

  /** Finds the next row; one that is cut is opened in `rows`, to be kept or dropped. False where there is none in what was given. */
  next(rows: RowWriter): boolean {
    const start = this.#skipBlank();
    const line = this.#nextLine + this.#blank;
    const cut = this.#cutter.cut(this.#bytes, start, rows);
    const end = cut === -1 ? this.#findEnd(start) : cut;
    if (end === -1) {
      if (this.#bytes.length - start > this.#limits.maxLineBytes + LINE_END_BYTES) this.#refuseOpen(start, line);
      return false;
    }
    this.cells = cut === -1 ? this.#parseRow(this.#bytes.subarray(start, end), this.#place(line)) : undefined;
    const isOneLine = cut !== -1 && !this.#cutter.isSpanning;
    const ended = isOneLine ? 1 : countLineEnds(this.#bytes.toString('latin1', start, end));
    this.line = line;
    this.blankLines += this.#blank;
    this.#blank = 0;
    this.#end = end;
    this.isSpanning = ended > 1;
    this.#nextLine = line + ended;
    return true;
  }

  /** Where the next row begins. */
  #skipBlank(): number {
    for (let length = lineEndAt(this.#bytes, this.#end); length > 0; length = lineEndAt(this.#bytes, this.#end)) {
      this.#end += length;
      this.#blank += 1;
    }
    return this.#end;
  }

  /** Where the row ends that begins at `start`: behind the first line end outside of quotes, or at the end of the file; -1 where it does not, yet. */
  #findEnd(start: number): number {
    const bytes = this.#bytes;
    let { to: at, isQuoted } = this.#sought.start === start ? this.#sought : { to: start, isQuoted: false };
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) isQuoted = !isQuoted;
      else if (!isQuoted && (byte === LF || byte === CR)) {
        const length = lineEndAt(bytes, at);
        if (length > 0) return at + length;
        break;
      }
    }
    this.#sought = { start, to: at, isQuoted };
    return this.#isEnded && start < at ? at : -1;
  }

  #parseRow(bytes: Buffer, where: string): string[] {
    const { maxFieldBytes, maxLineBytes } = this.#limits;
    const rows = this.#parse(bytes);
    if (!Array.isArray(rows)) throw refuseRow(rows, where);
    const [row, ...others] = rows;
    if (row === undefined || others.length > 0)
      throw new InternalError(
        'unexpected',
        `Cannot read CSV: there are ${countOf(rows.length, 'row')} in the place of one`,
      );
    if (bytes.length > maxLineBytes + LINE_END_BYTES) throw refuseLongRow(where, this.#limits);
    const long = row.findIndex((cell) => exceedsBytes(cell, maxFieldBytes));
    if (long !== -1) throw refuseLongField(where, long, this.#limits);
    return row.map(readTextFormula);
  }

  /** Rows, or what is wrong with them. */
  #parse(bytes: Buffer): string[][] | CsvError {
    const text = bytes.toString('latin1');
    const quoted = text.replace(FORMULAS, '"=""$1"""');
    // Within a field in quotes the first of these ends it, and no delimiter follows: then the row counts as it stands.
    const rows = quoted === text ? undefined : this.#parseAsIs(Buffer.from(quoted, 'latin1'));
    return Array.isArray(rows) ? rows : this.#parseAsIs(bytes);
  }

  #parseAsIs(bytes: Buffer): string[][] | CsvError {
    try {
      return parse(bytes, this.#options) as string[][];
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      return error;
    }
  }

  /** Refuses a row that is too long already, by what csv-parse says of it so far, or by its bytes alone. */
  #refuseOpen(start: number, line: number): void {
    const where = this.#place(line);
    const error = this.#parse(this.#bytes.subarray(start));
    throw error instanceof CsvError && error.code !== 'CSV_QUOTE_NOT_CLOSED'
      ? refuseRow(error, where)
      : refuseLongRow(where, this.#limits);
  }
}

/** A parser error as a refusal of the file; `where` is the line on which the row begins. */
export function refuseRow(error: unknown, where: string): unknown {
  if (!(error instanceof CsvError)) return error;
  switch (error.code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return refuse({
        where,
        message: 'a quote that opens in the row on this line never closes, expected a closing quote',
        hint: 'Close it, or write it twice ("") if it belongs to the text.',
      });
    case 'CSV_INVALID_CLOSING_QUOTE':
      return refuse({
        where,
        message: `in the row that begins on this line a quote stands inside the quotes of ${nameField(error)}, expected it twice`,
        hint: 'Write a quote that belongs to the text twice: "he said ""hi"" to". If none does, look for one that opens too early, or is not closed.',
      });
    case 'INVALID_OPENING_QUOTE':
      return refuse({
        where,
        message: `in the row that begins on this line a quote stands inside ${nameField(error)}, which is not in quotes, expected the whole field in quotes`,
        hint: 'Put the field in quotes and write the quote in it twice: "5"" pipe"; leave no blank before an opening quote.',
      });
    default:
      return error;
  }
}

/** `field 3`, as the parser counts them. */
function nameField(error: CsvError): string {
  return typeof error.column === 'number' ? `field ${error.column + 1}` : 'a field';
}

/** A row beyond the limits, by its bytes or by its number of fields. */
export function refuseLongRow(where: string, limits: ReadLimits): UserError {
  return refuse({
    where,
    message: `the row that begins on this line is too long, expected at most ${limits.maxLineBytes} bytes and ${limits.maxColumns} fields`,
    hint: 'Look for a quote that never closes; if the row is right, raise limits.maxLineBytes or limits.maxColumns where the job names the file.',
  });
}

/** A field beyond the limit; `index` counts from 0. */
export function refuseLongField(where: string, index: number, limits: ReadLimits): UserError {
  return refuse({
    where,
    message: `field ${index + 1} of the row that begins on this line is too long, expected at most ${limits.maxFieldBytes} bytes`,
    hint: 'Look for a quote that never closes; if the field is right, raise limits.maxFieldBytes where the job names the file.',
  });
}
