import type { Rejection } from '../domain.js';
import type { ReadRecord } from '../read/reader.js';
import type { DraftRow, RowDraft, RowRecord } from '../steps/kind.js';
import { type DraftBlock, decodeDrafts, encodeDrafts } from './draft-block.js';
import { joinJsonRows, splitJsonRows } from './json-rows.js';

/**
 * Records as a few texts, which go from thread to thread at the price of a copy; objects would cost more than reading them.
 * Row numbers follow on from `firstRow`, as rows of a file do.
 */
export interface RecordBlock {
  /** See json-rows.ts. */
  readonly cells: string;
  readonly lines: Float64Array;
  readonly firstRow: number;
  /** By the row's index in the block. */
  readonly faults: ReadonlyMap<number, Rejection>;
  /** One for each row of a rejections file; absent for any other. */
  readonly ownIds?: readonly string[] | undefined;
  /** Absent where nobody asked for them. */
  readonly drafts?: DraftBlock | undefined;
}

/** Of at least one record, none of which lacks a cell. A row with a fault has no draft. */
export function encodeBlock(records: readonly ReadRecord[], draftRow?: DraftRow): RecordBlock {
  const lines = new Float64Array(records.length);
  const faults = new Map<number, Rejection>();
  const cells = new Array<readonly string[]>(records.length);
  for (let index = 0; index < records.length; index += 1) {
    const record = records[index] as ReadRecord;
    lines[index] = record.line;
    cells[index] = record.cells as readonly string[];
    if (record.fault !== undefined) faults.set(index, record.fault);
  }
  const firstRow = records[0]?.row ?? 1;
  const ownIds = records[0]?.ownId === undefined ? undefined : records.map(({ ownId = '' }) => ownId);
  const drafts =
    draftRow &&
    encodeDrafts(records.map((record) => (record.fault === undefined ? draftRow(record.cells) : undefined)));
  return { cells: joinJsonRows(cells), lines, firstRow, faults, ownIds, drafts };
}

/** The same records, with their cells as JSON, and their drafts. */
export function decodeBlock(block: RecordBlock): (ReadRecord & RowRecord)[] {
  const { lines, ownIds } = block;
  const columns = { block, cells: splitJsonRows(block.cells), draftOf: block.drafts && decodeDrafts(block.drafts) };
  const records = new Array<BlockRecord>(lines.length);
  for (let index = 0; index < lines.length; index += 1) records[index] = new BlockRecord(columns, index);
  if (ownIds === undefined) return records;
  // Who checks rows that come back copies them, and a copy has nothing of what getters give.
  return records.map(({ cells, cellsJson, line, row, fault, draft }, index) => {
    return { cells, cellsJson, line, row, fault, draft, ownId: ownIds[index] };
  });
}

interface BlockColumns {
  readonly block: RecordBlock;
  /** JSON of each row, without its brackets. */
  readonly cells: readonly string[];
  readonly draftOf: ((index: number) => RowDraft | undefined) | undefined;
}

/** A row with a draft is planned without its cells: they stay JSON until somebody asks for them. */
class BlockRecord implements RowRecord {
  readonly #columns: BlockColumns;
  readonly #index: number;

  constructor(columns: BlockColumns, index: number) {
    this.#columns = columns;
    this.#index = index;
  }

  get cells(): string[] {
    const json = this.#columns.cells[this.#index] as string;
    // Without a backslash, no quote stands in a cell: then those around and between the cells are all there are.
    return json === '' || json.includes('\\') ? JSON.parse(`[${json}]`) : json.slice(1, -1).split('","');
  }

  get cellsJson(): string {
    return `[${this.#columns.cells[this.#index]}]`;
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

  get draft(): RowDraft | undefined {
    return this.#columns.draftOf?.(this.#index);
  }
}
