import type { Rejection } from '../domain.js';
import { type NumberColumn, normalizeCell } from '../normalize/number.js';
import type { NumberResult, RefusedNumber } from '../normalize/number-codes.js';
import type { ReadRecord } from './reader.js';

/**
 * Records as a few texts, which go from thread to thread at the price of a copy; objects would cost more than reading them.
 * Row numbers follow on from `firstRow`, as rows of a file do.
 */
export interface RecordBlock {
  /** The cells of each row as JSON, a line each. */
  readonly cells: string;
  readonly lines: Float64Array;
  readonly firstRow: number;
  /** By the row's index in the block. */
  readonly faults: readonly (readonly [index: number, fault: Rejection])[];
  /** One for each row of a rejections file; absent for any other. */
  readonly ownIds?: readonly string[] | undefined;
  /** Absent where nobody asked for them. */
  readonly numbers?: NumberBlock | undefined;
}

interface NumberBlock {
  /** E.164 of each row, a line each; empty in a row with a fault, or whose number is refused. */
  readonly e164: string;
  /** ISO alpha-2 of each row, one behind the other. */
  readonly countries: string;
  readonly refused: readonly (readonly [index: number, number: RefusedNumber])[];
}

const NO_COUNTRY = '--';

/** Of at least one record, none of which lacks a cell. */
export function encodeBlock(records: readonly ReadRecord[], column?: NumberColumn): RecordBlock {
  const lines = new Float64Array(records.length);
  const faults: [number, Rejection][] = [];
  const cells = new Array<string>(records.length);
  for (const [index, record] of records.entries()) {
    lines[index] = record.line;
    cells[index] = JSON.stringify(record.cells);
    if (record.fault !== undefined) faults.push([index, record.fault]);
  }
  const firstRow = records[0]?.row ?? 1;
  const ownIds = records[0]?.ownId === undefined ? undefined : records.map(({ ownId = '' }) => ownId);
  const numbers = column && encodeNumbers(records, column);
  return { cells: cells.join('\n'), lines, firstRow, faults, ownIds, numbers };
}

function encodeNumbers(records: readonly ReadRecord[], column: NumberColumn): NumberBlock {
  const e164 = new Array<string>(records.length).fill('');
  const refused: [number, RefusedNumber][] = [];
  let countries = '';
  for (const [index, { cells, fault }] of records.entries()) {
    const number = fault === undefined ? normalizeCell(cells, column) : undefined;
    if (number?.ok === true) e164[index] = number.e164;
    else if (number !== undefined) refused.push([index, number]);
    countries += number?.ok === true ? number.country : NO_COUNTRY;
  }
  return { e164: e164.join('\n'), countries, refused };
}

/** The same records, with their cells as JSON, and their numbers. */
export function decodeBlock(block: RecordBlock): ReadRecord[] {
  const { cells, lines, firstRow, faults, ownIds, numbers } = block;
  const texts = cells.split('\n');
  const faultOf = new Map(faults);
  const numberOf = numbers && decodeNumbers(numbers);
  const records = new Array<ReadRecord>(lines.length);
  for (let index = 0; index < lines.length; index += 1) {
    const cellsJson = texts[index] as string;
    records[index] = {
      cells: parseCells(cellsJson),
      cellsJson,
      line: lines[index] as number,
      row: firstRow + index,
      fault: faultOf.get(index),
      number: numberOf?.(index),
    };
  }
  return ownIds === undefined ? records : records.map((record, index) => ({ ...record, ownId: ownIds[index] }));
}

/** Without a backslash, no quote stands in a cell: then those around and between the cells are all there are. */
function parseCells(json: string): string[] {
  return json.includes('\\') ? JSON.parse(json) : json.slice(2, -2).split('","');
}

function decodeNumbers(block: NumberBlock): (index: number) => NumberResult | undefined {
  const all = block.e164.split('\n');
  const refused = new Map(block.refused);
  return (index) => {
    const e164 = all[index] ?? '';
    if (e164 === '') return refused.get(index);
    return { ok: true, e164, country: block.countries.slice(2 * index, 2 * index + 2) };
  };
}
