import { DESTINATION_COLUMN, isResultColumn } from '../../domain/output-columns.js';
import type { SourceRecord } from '../../domain/row.js';
import { NUMBER_CODES, type NumberCode } from '../../domain/row-codes.js';
import { normalizeNumber } from '../../normalize/number/number.js';

const UNREADABLE_SHOWN = 5;

/** Codes for numbers damaged by a spreadsheet or by hand. */
const DAMAGED: ReadonlySet<NumberCode> = new Set([
  'spreadsheet-number',
  'lost-plus',
  'lost-zero',
  'stray-apostrophe',
  'letters',
]);

export interface SuppressionColumn {
  /** E.164. */
  readonly valid: string[];
  /** Cells that are neither blank nor a number, those that were one before they were damaged, and where the first stand. */
  unreadable: number;
  damaged: number;
  readonly places: { line: number; reason: string }[];
}

/** Finds the columns of a suppression list that hold numbers. */
export class SuppressionColumns {
  readonly #columns: SuppressionColumn[] = [];

  /** `names`: of the columns. In results, only the number counts, since ids may look like numbers. */
  add(record: SourceRecord, country: string | undefined, names: readonly string[]): void {
    for (const [index, cell] of record.cells.entries()) {
      if (cell === undefined || cell.trim() === '') continue;
      const name = names[index] ?? '';
      if (isResultColumn(name) && name !== DESTINATION_COLUMN) continue;
      const column = this.#columnAt(index);
      const number = normalizeNumber(cell, country);
      if (number.ok) {
        column.valid.push(number.e164);
        continue;
      }
      column.unreadable += 1;
      if (DAMAGED.has(number.code)) column.damaged += 1;
      // The text of the code, since a reason may quote the number, and problems reach terminals and logs.
      if (column.places.length < UNREADABLE_SHOWN) {
        column.places.push({ line: record.line, reason: NUMBER_CODES[number.code].is });
      }
    }
  }

  /** Columns of which at least half is valid numbers, or any cell was one before it was damaged. */
  get counting(): SuppressionColumn[] {
    return this.#columns.filter(
      ({ valid, unreadable, damaged }) => damaged > 0 || (valid.length > 0 && valid.length >= unreadable),
    );
  }

  #columnAt(index: number): SuppressionColumn {
    const known = this.#columns[index];
    if (known !== undefined) return known;
    const column = { valid: [], unreadable: 0, damaged: 0, places: [] };
    this.#columns[index] = column;
    return column;
  }
}
