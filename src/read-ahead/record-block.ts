import type { Rejection } from '../domain.js';
import type { ReadRecord } from '../read/reader.js';
import type { DraftBlock } from '../steps/draft-block.js';
import { TextBuffer } from '../text-buffer.js';

/**
 * Records as bytes and columns, which go from thread to thread as they are; objects would cost more than reading them.
 * Row numbers follow on from `firstRow`, as rows of a file do.
 */
export interface RecordBlock {
  /** JSON of each row's cells, in UTF-8, each ended by LF. */
  readonly cells: Uint8Array<ArrayBuffer>;
  readonly lines: Float64Array<ArrayBuffer>;
  readonly firstRow: number;
  /** By the row's index in the block. */
  readonly faults: ReadonlyMap<number, Rejection>;
  /** One for each row of a rejections file; absent for any other. */
  readonly ownIds?: readonly string[] | undefined;
  /** Absent where nobody asked for them, and where they are left to whoever takes the block. */
  readonly drafts?: DraftBlock | undefined;
}

/** For one block after the other, as those of drafts have. */
const cells = new TextBuffer();

/** Of at least one record, none of which lacks a cell. */
export function encodeBlock(records: readonly ReadRecord[], drafts?: DraftBlock): RecordBlock {
  const lines = new Float64Array(records.length);
  const faults = new Map<number, Rejection>();
  cells.clear();
  for (let index = 0; index < records.length; index += 1) {
    const record = records[index] as ReadRecord;
    lines[index] = record.line;
    cells.appendShort('[');
    cells.appendStrings(record.cells as readonly string[]);
    cells.appendShort(']\n');
    if (record.fault !== undefined) faults.set(index, record.fault);
  }
  const firstRow = records[0]?.row ?? 1;
  const ownIds = records[0]?.ownId === undefined ? undefined : records.map(({ ownId = '' }) => ownId);
  return { cells: cells.copy(), lines, firstRow, faults, ownIds, drafts };
}

/** The memory of a block, to be handed over and not copied. */
export function listBuffers({ cells, lines, drafts }: RecordBlock): ArrayBuffer[] {
  const own = [cells.buffer, lines.buffer];
  if (drafts === undefined) return own;
  const { numbers, segments, lines: drafted, countries, ucs2 } = drafts;
  return [...own, ...[numbers, segments, drafted, countries.of, ucs2.of].map(({ buffer }) => buffer)];
}

/** The same records, with their cells as JSON. */
export function decodeBlock(block: RecordBlock): ReadRecord[] {
  const { lines, ownIds } = block;
  const columns = { block, cells: Buffer.from(block.cells.buffer).toString('utf8').split('\n') };
  const records = new Array<BlockRecord>(lines.length);
  for (let index = 0; index < lines.length; index += 1) records[index] = new BlockRecord(columns, index);
  if (ownIds === undefined) return records;
  // Who checks rows that come back copies them, and a copy has nothing of what getters give.
  return records.map(({ cells, cellsJson, line, row, fault }, index) => {
    return { cells, cellsJson, line, row, fault, ownId: ownIds[index] };
  });
}

interface BlockColumns {
  readonly block: RecordBlock;
  /** JSON of each row. */
  readonly cells: readonly string[];
}

class BlockRecord implements ReadRecord {
  readonly #columns: BlockColumns;
  readonly #index: number;

  constructor(columns: BlockColumns, index: number) {
    this.#columns = columns;
    this.#index = index;
  }

  get cells(): string[] {
    const json = this.cellsJson;
    // Without a backslash, no quote stands in a cell: then those around and between the cells are all there are.
    return json === '[]' || json.includes('\\') ? JSON.parse(json) : json.slice(2, -2).split('","');
  }

  get cellsJson(): string {
    return this.#columns.cells[this.#index] as string;
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
