import type { Rejection, SourceRecord } from '../row.js';

/**
 * Rows of one file that follow each other, as bytes and columns: they go from thread to thread as they are, and from their bytes
 * into a plan. Objects and strings for each would cost more than reading them.
 */
export interface RowBlock {
  /** JSON of each row's cells, in UTF-8, each ended by LF: `["a","b"]`. */
  readonly cells: Uint8Array<ArrayBuffer>;
  /** Row by row, where each cell ends within `cells`: its closing quote. Invariant: no block comes near 4 GiB. */
  readonly ends: Uint32Array<ArrayBuffer>;
  readonly width: number;
  /** The line on which each row begins. */
  readonly lines: Float64Array<ArrayBuffer>;
  /** The number of each row in its file. */
  readonly rows: Float64Array<ArrayBuffer>;
  /** Why a row is faulty, by the row's index in the block. */
  readonly faults: ReadonlyMap<number, Rejection>;
  /** The id that a row of a rejections file brings along, by the row's index in the block. */
  readonly ownIds: ReadonlyMap<number, string>;
  /** Cells that rows of NDJSON lack, which are blank here: the row's index times the width, and the column. */
  readonly absent: ReadonlySet<number>;
}

/** What stands between the ends of two cells, of one row and of two: `","` and `"]\n["`. */
const BETWEEN_CELLS = 3;
const BETWEEN_ROWS = 5;
const BEFORE_CELLS = 2;

/** The cells of one row of a block after the other, by the index of their column: as texts, and as JSON writes them between quotes, which is read faster. */
export class ByteCells {
  readonly bytes: Buffer;
  /** Index of the row; to be set. */
  row = 0;
  readonly #ends: Uint32Array;
  readonly #width: number;

  constructor({ cells, ends, width }: Pick<RowBlock, 'ends' | 'width'> & { readonly cells: Uint8Array }) {
    this.bytes = Buffer.from(cells.buffer, cells.byteOffset, cells.byteLength);
    this.#ends = ends;
    this.#width = width;
  }

  /** Where a cell begins; a cell that the row lacks is an empty one. */
  startOf(column: number): number {
    if (column >= this.#width || column < 0) return 0;
    const cell = this.row * this.#width + column;
    if (cell === 0) return BEFORE_CELLS;
    return (this.#ends[cell - 1] as number) + (column === 0 ? BETWEEN_ROWS : BETWEEN_CELLS);
  }

  endOf(column: number): number {
    return column >= this.#width || column < 0 ? 0 : (this.#ends[this.row * this.#width + column] as number);
  }

  /** '' for a cell that the row lacks. */
  cell(column: number): string {
    return unescapeJson(this.bytes.toString('utf8', this.startOf(column), this.endOf(column)));
  }

  /** The first byte of a cell; undefined where it is empty. */
  firstOf(column: number): number | undefined {
    const start = this.startOf(column);
    return start === this.endOf(column) ? undefined : this.bytes[start];
  }

  /** Where the JSON of all cells begins and ends. */
  get start(): number {
    return this.startOf(0) - BEFORE_CELLS;
  }

  get end(): number {
    return this.endOf(this.#width - 1) + BEFORE_CELLS;
  }

  get texts(): string[] {
    return this.#width === 0 ? [] : parseCells(this.bytes.toString('utf8', this.start, this.end));
  }
}

/** Takes two thirds of the time of JSON.parse. */
function parseCells(json: string): string[] {
  // Without a backslash, no quote stands in a cell: then those around and between the cells are all there are.
  return json.includes('\\') ? JSON.parse(json) : json.slice(BEFORE_CELLS, -BEFORE_CELLS).split('","');
}

/** A text that JSON writes so between quotes. */
export function unescapeJson(written: string): string {
  return written.includes('\\') ? JSON.parse(`"${written}"`) : written;
}

/** The rows of a block one by one, for what needs no speed. */
export function listRecords(block: RowBlock): SourceRecord[] {
  const cells = new ByteCells(block);
  return Array.from(block.lines, (line, index) => {
    cells.row = index;
    const row = block.rows[index] as number;
    return { cells: cells.texts, line, row, fault: block.faults.get(index), ownId: block.ownIds.get(index) };
  });
}
