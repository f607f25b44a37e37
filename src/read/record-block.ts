import type { Rejection } from '../domain.js';
import type { ReadRecord } from './reader.js';

/**
 * Records as two texts, which go from thread to thread at the price of a copy; objects would cost more than reading them.
 * Row numbers follow on from `firstRow`, as rows of a file do.
 */
export interface RecordBlock {
  /** All cells, row by row. No cell holds NUL: no file with one is read. */
  readonly cells: string;
  /** The cells of each row as JSON, a line each. */
  readonly json: string;
  readonly lines: Float64Array;
  readonly firstRow: number;
  /** By the row's index in the block. */
  readonly faults: readonly (readonly [index: number, fault: Rejection])[];
  /** One for each row of a rejections file; absent for any other. */
  readonly ownIds?: readonly string[] | undefined;
}

const BETWEEN_CELLS = '\0';

/** Of at least one record, none of which lacks a cell. */
export function encodeBlock(records: readonly ReadRecord[]): RecordBlock {
  const lines = new Float64Array(records.length);
  const faults: [number, Rejection][] = [];
  const cells = new Array<string>(records.length);
  const json = new Array<string>(records.length);
  for (const [index, record] of records.entries()) {
    lines[index] = record.line;
    cells[index] = record.cells.join(BETWEEN_CELLS);
    json[index] = JSON.stringify(record.cells);
    if (record.fault !== undefined) faults.push([index, record.fault]);
  }
  const firstRow = records[0]?.row ?? 1;
  const ownIds = records[0]?.ownId === undefined ? undefined : records.map(({ ownId = '' }) => ownId);
  return { cells: cells.join(BETWEEN_CELLS), json: json.join('\n'), lines, firstRow, faults, ownIds };
}

/** The same records, with their cells as JSON; `width` is the number of cells of each. */
export function decodeBlock(block: RecordBlock, width: number): ReadRecord[] {
  const { cells, json, lines, firstRow, faults, ownIds } = block;
  const all = cells.split(BETWEEN_CELLS);
  const texts = json.split('\n');
  const faultOf = new Map(faults);
  const records = new Array<ReadRecord>(lines.length);
  for (let index = 0; index < lines.length; index += 1) {
    records[index] = {
      cells: all.slice(index * width, (index + 1) * width),
      cellsJson: texts[index],
      line: lines[index] as number,
      row: firstRow + index,
      fault: faultOf.get(index),
    };
  }
  return ownIds === undefined ? records : records.map((record, index) => ({ ...record, ownId: ownIds[index] }));
}
