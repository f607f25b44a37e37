import type { Cell, Rejection, SourceRecord } from '../row.js';
import { ByteCells, type RowBlock } from './row-block.js';
import { BACKSLASH, COMMA, DELETE, OPENING, QUOTE, SPACE, TextBuffer } from './text-buffer.js';

/**
 * Gathers rows into blocks and reuses its memory: allocating takes longer than filling. A row is added as strings; or
 * the caller opens one, writes its JSON, then keeps or drops it.
 */
export class RowWriter {
  readonly width: number;
  /** Rows that are kept. */
  count = 0;
  readonly #text = new TextBuffer();
  #ends: number[] = [];
  #lines: number[] = [];
  #rows: number[] = [];
  #faults = new Map<number, Rejection>();
  #ownIds = new Map<number, string>();
  #absent = new Set<number>();
  /** The cells of the open row so far, then where its JSON begins and ends. */
  #cells = 0;
  #start = 0;
  #end = 0;

  constructor(width: number) {
    this.width = width;
  }

  /** Bytes of JSON of the kept rows. */
  get bytes(): number {
    return this.#text.length;
  }

  /** Opens a row, whose JSON and LF are at most so many bytes. It is to be written into what it gives, from `start` on. */
  open(most: number): { readonly bytes: Uint8Array; readonly start: number } {
    const bytes = this.#text.reserve(most);
    this.#cells = 0;
    this.#start = this.#text.length;
    return { bytes, start: this.#start };
  }

  /** The next cell of the open row was written; its closing quote stands at `end`. */
  endCell(end: number): void {
    if (this.#cells < this.width) this.#ends[this.count * this.width + this.#cells] = end;
    this.#cells += 1;
  }

  /** The open row was written; its LF stands at `end`. */
  endRow(end: number): void {
    this.#end = end;
  }

  /** Whether the open row has a cell for each column and, by a cheap check, one that is not blank. */
  get isPlain(): boolean {
    if (this.#cells !== this.width) return false;
    const bytes = this.#text.reserve(0);
    const cells = this.count * this.width;
    let start = this.#start + '["'.length;
    for (let cell = 0; cell < this.width; cell += 1) {
      const end = this.#ends[cells + cell] as number;
      const first = bytes[start] as number;
      // Non-ASCII bytes may be blanks, such as U+00A0.
      if (start < end && first > SPACE && first < DELETE && first !== BACKSLASH) return true;
      start = end + '","'.length;
    }
    return false;
  }

  /** The open row is one of the block; `line`: on which it begins, `row`: its number. */
  keep(line: number, row: number): void {
    this.#text.endAt(this.#end + 1);
    this.#lines[this.count] = line;
    this.#rows[this.count] = row;
    this.count += 1;
  }

  /** The open row is none of the block: its cells, of which there may be more or fewer than columns. */
  takeBack(): string[] {
    const bytes = this.#text.reserve(0);
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset).toString('utf8', this.#start, this.#end));
  }

  /** Adds a row with as many cells as there are columns; undefined where NDJSON lacks one. */
  add({ cells, line, row, fault, ownId }: Omit<SourceRecord, 'cells'> & { readonly cells: readonly Cell[] }): void {
    const text = this.#text;
    text.appendByte(OPENING);
    for (let cell = 0; cell < this.width; cell += 1) {
      const written = cells[cell];
      const at = this.count * this.width + cell;
      if (cell > 0) text.appendByte(COMMA);
      text.appendByte(QUOTE);
      if (written === undefined) this.#absent.add(at);
      else text.append(JSON.stringify(written).slice(1, -1));
      this.#ends[at] = text.length;
      text.appendByte(QUOTE);
    }
    text.appendShort(']\n');
    if (fault !== undefined) this.#faults.set(this.count, fault);
    if (ownId !== undefined) this.#ownIds.set(this.count, ownId);
    this.#lines[this.count] = line;
    this.#rows[this.count] = row;
    this.count += 1;
  }

  /** The gathered rows in memory of their own, which can be transferred to another thread; the writer is then empty. */
  take(): RowBlock {
    const block = {
      cells: this.#text.copy(),
      ends: new Uint32Array(this.#ends.slice(0, this.count * this.width)),
      width: this.width,
      lines: new Float64Array(this.#lines),
      rows: new Float64Array(this.#rows),
      faults: this.#faults,
      ownIds: this.#ownIds,
      absent: this.#absent,
    };
    this.#text.clear();
    this.count = 0;
    this.#ends = [];
    this.#lines = [];
    this.#rows = [];
    this.#faults = new Map();
    this.#ownIds = new Map();
    this.#absent = new Set();
    return block;
  }
}

/** One row that is texts. */
export function cellsOf(cells: readonly Cell[]): ByteCells {
  const writer = new RowWriter(cells.length);
  writer.add({ cells, line: 1, row: 1, fault: undefined });
  return new ByteCells(writer.take());
}
