import { CR, LF } from '../../domain/bytes/ascii.js';
import type { RowWriter } from '../../domain/bytes/row-writer.js';
import { CUTS_PLAIN_ROWS } from '../../domain/fast-path.js';
import type { ReadLimits } from '../../job/job.js';
import { PlainRowCutter } from '../fast/plain-rows.js';
import { CsvParser, type RawRows } from './csv-parser.js';
import type { Delimiter } from './delimiter.js';

/**
 * Longer lines, and longer runs of blank ones, are left to csv-parse, which does not keep them and knows when a line is
 * too long.
 */
const MAX_PLAIN_BYTES = 64 * 1024;

const NO_ROWS: RawRows = { rows: [], lines: [], spanning: new Set() };

/**
 * Rows from the text of a CSV file. Plain rows are cut here, in a tenth of the time that csv-parse takes; from the
 * first row that is not plain, csv-parse reads the file to its end, and it alone reports errors. For each piece, first
 * cut the plain rows one by one, then take those of csv-parse.
 */
export class CsvRows {
  readonly #delimiter: Delimiter;
  readonly #limits: ReadLimits;
  readonly #cutter: PlainRowCutter;
  /** Whole lines to be cut, up to `#wholeEnd`, and the beginning of another. */
  #bytes: Buffer = Buffer.alloc(0);
  #wholeEnd = 0;
  /** Behind the last row: where, and which line begins there. Blank lines there count once a row follows. */
  #end = 0;
  #line: number;
  #isStopped = !CUTS_PLAIN_ROWS;
  #blankLines = 0;
  #parser: CsvParser | undefined;

  /** `firstLine`: the line of the file on which what is given begins. */
  constructor(delimiter: Delimiter, limits: ReadLimits, firstLine = 1) {
    this.#delimiter = delimiter;
    this.#limits = limits;
    this.#line = firstLine;
    this.#cutter = new PlainRowCutter(delimiter, Math.min(limits.maxLineBytes, limits.maxFieldBytes, MAX_PLAIN_BYTES));
  }

  /** The line on which the row begins that is being read. */
  get openLine(): number {
    return this.#parser?.openLine ?? this.#line;
  }

  /** Blank lines before the last row, which are skipped. */
  get blankLines(): number {
    return this.#blankLines + (this.#parser?.blankLines ?? 0);
  }

  /** Bytes of whole pieces in which no row ended. */
  get openBytes(): number {
    return this.#parser?.openBytes ?? 0;
  }

  /** The first row with a field beyond the limit. */
  get longField(): { line: number; index: number } | undefined {
    return this.#parser?.longField;
  }

  /** The next piece of UTF-8. Throws what csv-parse does. */
  async give(piece: Buffer): Promise<void> {
    if (this.#parser !== undefined) return this.#parser.parsePiece(piece);
    const rest = this.#bytes.subarray(this.#end);
    this.#bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    this.#end = 0;
    this.#wholeEnd = this.#bytes.lastIndexOf(LF) + 1;
  }

  /** Opens the next plain row in `rows`, to be kept or dropped, and returns its line; undefined if there is none. */
  cut(rows: RowWriter): number | undefined {
    if (this.#parser !== undefined || this.#isStopped) return undefined;
    const bytes = this.#bytes;
    let start = this.#end;
    let blankLines = 0;
    for (let length = lineEndAt(bytes, start); length > 0; length = lineEndAt(bytes, start)) {
      start += length;
      blankLines += 1;
    }
    if (start >= this.#wholeEnd) return undefined;
    const end = this.#cutter.cut(bytes, start, rows);
    if (end === -1) {
      this.#isStopped = true;
      return undefined;
    }
    const line = this.#line + blankLines;
    this.#blankLines += blankLines;
    this.#end = end;
    this.#line = line + 1;
    return line;
  }

  /** Once no row is left to be cut: those that csv-parse read. Throws what it does. */
  async parse(): Promise<RawRows> {
    const isLong = this.#bytes.length - this.#end > MAX_PLAIN_BYTES;
    if (this.#parser === undefined && (this.#isStopped || isLong)) await this.#parseRest();
    return this.#parser?.takeRows() ?? NO_ROWS;
  }

  /** The file has ended: what is left can be parsed. */
  async end(): Promise<void> {
    if (this.#parser === undefined) await this.#parseRest();
    await this.#parser?.parseEnd();
  }

  async #parseRest(): Promise<void> {
    this.#parser = new CsvParser(this.#delimiter, this.#limits, this.#line);
    const rest = this.#bytes.subarray(this.#end);
    this.#bytes = Buffer.alloc(0);
    if (rest.length > 0) await this.#parser.parsePiece(rest);
  }
}

/** Bytes of the line end at `at`: 0 where none stands. */
function lineEndAt(bytes: Uint8Array, at: number): number {
  if (bytes[at] === LF) return 1;
  return bytes[at] === CR && bytes[at + 1] === LF ? 2 : 0;
}
