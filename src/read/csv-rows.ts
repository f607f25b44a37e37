import { isAscii } from 'node:buffer';
import type { ReadLimits } from '../job/job.js';
import { CsvParser, type RawRows } from './csv-parser.js';
import type { Delimiter } from './delimiter.js';
import { cutPlainRows, type PlainRows } from './plain-rows.js';

const LF = 0x0a;
/** A line that goes on for longer, or blank ones that do, are left to csv-parse: it keeps none of them, and knows when one is too long. */
const MAX_PLAIN_BYTES = 64 * 1024;
/** UTF-8 takes at most three bytes for a UTF-16 unit. */
const MOST_BYTES_A_UNIT = 3;

/**
 * Rows from the text of a CSV file. They are cut here as long as they are plain, in a quarter of the time that csv-parse takes; from
 * the first row that is not, csv-parse reads the file to its end. What a row means, and what is wrong with one, it alone says.
 */
export class CsvRows {
  readonly #delimiter: Delimiter;
  readonly #limits: ReadLimits;
  readonly #maxLength: number;
  /** A line whose end is not there yet, and blank ones before it. */
  #rest: Buffer = Buffer.alloc(0);
  #line = 1;
  #cut: PlainRows | undefined;
  #blankLines = 0;
  #parser: CsvParser | undefined;

  constructor(delimiter: Delimiter, limits: ReadLimits) {
    this.#delimiter = delimiter;
    this.#limits = limits;
    const mostBytes = Math.min(limits.maxLineBytes, limits.maxFieldBytes, MAX_PLAIN_BYTES);
    this.#maxLength = Math.floor(mostBytes / MOST_BYTES_A_UNIT);
  }

  /** The line on which the row begins that is being read. */
  get openLine(): number {
    return this.#parser?.openLine ?? this.#line;
  }

  /** Blank lines before the last row; they are passed over. */
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

  /** Takes the next piece of UTF-8; the rows that end in it can be taken afterwards. Throws what csv-parse does. */
  async parsePiece(piece: Buffer): Promise<void> {
    if (this.#parser !== undefined) return this.#parser.parsePiece(piece);
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const whole = bytes.subarray(0, bytes.lastIndexOf(LF) + 1);
    const text = whole.toString(isAscii(whole) ? 'latin1' : 'utf8');
    const cut = cutPlainRows(text, { delimiter: this.#delimiter, line: this.#line, maxLength: this.#maxLength });
    this.#cut = cut;
    this.#line = cut.nextLine;
    this.#blankLines += cut.blankLines;
    // What stands behind the last row comes again, blank lines included.
    const behind = cut.end === text.length ? whole.length : Buffer.byteLength(text.slice(0, cut.end));
    this.#rest = bytes.subarray(behind);
    if (cut.isStopped || this.#rest.length > MAX_PLAIN_BYTES) await this.#parseRest();
  }

  async parseEnd(): Promise<void> {
    if (this.#parser === undefined) await this.#parseRest();
    await this.#parser?.parseEnd();
  }

  takeRows(): RawRows {
    const cut = this.#cut;
    const parsed = this.#parser?.takeRows();
    this.#cut = undefined;
    if (cut === undefined || cut.rows.length === 0) return parsed ?? { rows: [], lines: [], spanning: new Set() };
    if (parsed === undefined) return { rows: cut.rows, lines: cut.lines, spanning: new Set() };
    const spanning = new Set([...parsed.spanning].map((index) => index + cut.rows.length));
    return { rows: [...cut.rows, ...parsed.rows], lines: [...cut.lines, ...parsed.lines], spanning };
  }

  async #parseRest(): Promise<void> {
    this.#parser = new CsvParser(this.#delimiter, this.#limits, this.#line);
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    if (rest.length > 0) await this.#parser.parsePiece(rest);
  }
}
