import { Parser } from 'csv-parse';
import type { ReadLimits } from '../../job/job.js';
import { countLineEnds } from '../text/lines.js';
import type { Delimiter } from './delimiter.js';

/** Rows as the parser gave them, and the line on which each begins. */
export interface RawRows {
  readonly rows: string[][];
  readonly lines: number[];
  /** Indexes of the rows that span several lines. */
  readonly spanning: ReadonlySet<number>;
}

/**
 * csv-parse, gathering rows instead of streaming them: its `push` is called once a row, with its counters at hand.
 * Blank lines are skipped. A misplaced quote is an error, never the end or the beginning of another row.
 */
export class CsvParser extends Parser {
  #rows: string[][] = [];
  #lines: number[] = [];
  #spanning = new Set<number>();
  readonly #maxFieldBytes: number;
  /** The parser's counters as they stood when it gave the last row. */
  #linesSeen = 0;
  #blankSeen = 0;
  #bytesSeen = 0;
  #nextLine: number;
  /** Blank lines before the last row. */
  blankLines = 0;
  /** Bytes of whole pieces in which no row ended: a row may be too long by its number of fields alone. */
  openBytes = 0;
  /** The first row with a field beyond the limit. */
  longField: { line: number; index: number } | undefined;

  /** `firstLine`: the line of the file that the first piece begins. */
  constructor(delimiter: Delimiter, limits: ReadLimits, firstLine: number) {
    super({
      columns: false,
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: limits.maxLineBytes,
    });
    this.#maxFieldBytes = limits.maxFieldBytes;
    this.#nextLine = firstLine;
    // The writer of the piece gets the error; without a listener it would end the process.
    this.on('error', () => {});
  }

  /** The line on which the row begins that the parser is in. */
  get openLine(): number {
    return this.#nextLine + this.info.empty_lines - this.#blankSeen;
  }

  /** Parses a piece; the rows that end in it can be taken afterwards. */
  parsePiece(piece: Buffer): Promise<void> {
    const before = this.#bytesSeen + this.info.empty_lines;
    return new Promise((resolve, reject) => {
      this.write(piece, (error) => {
        const isSameRow = this.#bytesSeen + this.info.empty_lines === before;
        this.openBytes = isSameRow ? this.openBytes + piece.length : 0;
        if (error) reject(error);
        else resolve();
      });
    });
  }

  /** Parses what is left at the end of the file. */
  parseEnd(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.end((error?: Error | null) => (error ? reject(error) : resolve()));
    });
  }

  takeRows(): RawRows {
    const taken = { rows: this.#rows, lines: this.#lines, spanning: this.#spanning };
    this.#rows = [];
    this.#lines = [];
    if (this.#spanning.size > 0) this.#spanning = new Set();
    return taken;
  }

  override push(row: string[] | null): boolean {
    if (row === null) return super.push(null);
    // Each row counts as the first, so that the parser compares its width with no other: for every row that differs it
    // would build an error with a stack (37 µs), which `relax_column_count` then drops.
    (this.info as { records: number }).records = 0;
    const blank = this.info.empty_lines - this.#blankSeen;
    const line = this.#nextLine + blank;
    // The parser counts a CRLF within quotes as two lines, an editor as one.
    const characters = this.info.lines - this.#linesSeen - 1 - blank;
    this.#nextLine = line + 1;
    if (characters > 0) {
      this.#nextLine += countLinesWithin(row);
      this.#spanning.add(this.#rows.length);
    }
    this.#linesSeen = this.info.lines;
    this.#blankSeen = this.info.empty_lines;
    this.blankLines += blank;
    if (this.info.bytes - this.#bytesSeen > this.#maxFieldBytes) this.#findLongField(row, line);
    this.#bytesSeen = this.info.bytes;
    this.#rows.push(row);
    this.#lines.push(line);
    return true;
  }

  #findLongField(row: readonly string[], line: number): void {
    const index = row.findIndex((cell) => Buffer.byteLength(cell) > this.#maxFieldBytes);
    if (index !== -1) this.longField ??= { line, index };
  }
}

function countLinesWithin(row: readonly string[]): number {
  let lines = 0;
  for (const cell of row) lines += countLineEnds(cell);
  return lines;
}
