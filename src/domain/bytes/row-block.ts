import type { CellBytes, Rejection, RowCells, SourceRecord } from '../row.js';

/**
 * Rows of one file that follow each other, as bytes and columns: they go from thread to thread as they are, and from their bytes
 * into a plan. Objects and strings for each would cost more than reading them.
 */
export interface RowBlock {
  /** JSON of each row's cells, in UTF-8, each ended by LF: `["a","b"]`. */
  readonly cells: Uint8Array<ArrayBuffer>;
  /** Row by row, where each cell ends within `cells`: its closing quote. Invariant: no block comes near 4 GiB. */
  readonly ends: Uint32Array<ArrayBuffer>;
  /** Cells of each row. */
  readonly width: number;
  /** On which each row begins. */
  readonly lines: Float64Array<ArrayBuffer>;
  /** Number of the first row; the others follow on. */
  readonly firstRow: number;
  /** By the row's index in the block. */
  readonly faults: ReadonlyMap<number, Rejection>;
  /** One for each row of a rejections file; absent for any other. */
  readonly ownIds?: readonly string[] | undefined;
}

/** What stands between the ends of two cells, of one row and of two: `","` and `"]\n["`. */
const BETWEEN_CELLS = 3;
const BETWEEN_ROWS = 5;
const BEFORE_CELLS = 2;

/** The cells of one row of a block after the other, as JSON writes them between quotes. */
export class ByteCells implements RowCells, CellBytes {
  readonly bytes: Uint8Array;
  /** Index of the row; to be set. */
  row = 0;
  readonly #ends: Uint32Array;
  readonly #width: number;

  constructor({ cells, ends, width }: Pick<RowBlock, 'ends' | 'width'> & { readonly cells: Uint8Array }) {
    this.bytes = cells;
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

  get asBytes(): this {
    return this;
  }

  cell(column: number): string {
    const text = this.#toString(this.startOf(column), this.endOf(column));
    return text.includes('\\') ? JSON.parse(`"${text}"`) : text;
  }

  /** Where the JSON of all cells begins and ends. */
  get start(): number {
    return this.startOf(0) - BEFORE_CELLS;
  }

  get end(): number {
    return this.endOf(this.#width - 1) + BEFORE_CELLS;
  }

  get texts(): string[] {
    return this.#width === 0 ? [] : parseCells(this.#toString(this.start, this.end));
  }

  #toString(start: number, end: number): string {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset).toString('utf8', start, end);
  }
}

/** The same rows one by one. */
export function listRecords(block: RowBlock): (SourceRecord & { readonly ownId?: string | undefined })[] {
  const { lines, ownIds } = block;
  const columns = { block, json: Buffer.from(block.cells.buffer).toString('utf8').split('\n') };
  const records = new Array<BlockRecord>(lines.length);
  for (let index = 0; index < lines.length; index += 1) records[index] = new BlockRecord(columns, index);
  if (ownIds === undefined) return records;
  // Re-imported rows are copied, and a copy drops getters.
  return records.map(({ cells, cellsJson, line, row, fault }, index) => {
    return { cells, cellsJson, line, row, fault, ownId: ownIds[index] };
  });
}

interface BlockColumns {
  readonly block: RowBlock;
  /** Of each row. */
  readonly json: readonly string[];
}

class BlockRecord implements SourceRecord {
  readonly #columns: BlockColumns;
  readonly #index: number;

  constructor(columns: BlockColumns, index: number) {
    this.#columns = columns;
    this.#index = index;
  }

  get cells(): string[] {
    return parseCells(this.cellsJson);
  }

  get cellsJson(): string {
    return this.#columns.json[this.#index] as string;
  }

  get line(): number {
    return this.#columns.block.lines[this.#index] as number;
  }

  get row(): number {
    return this.#columns.block.firstRow + this.#index;
  }

  get fault(): Rejection | undefined {
    return this.#columns.block.faults.get(this.#index);
  }
}

function parseCells(json: string): string[] {
  // Without a backslash, no quote stands in a cell: then those around and between the cells are all there are.
  return json === '[]' || json.includes('\\') ? JSON.parse(json) : json.slice(BEFORE_CELLS, -BEFORE_CELLS).split('","');
}
