import type { RowCells } from '../domain/row.js';

/** A cell without the blanks around it, '' where it is blank, and in how many rows it stands. */
export interface CellCount {
  readonly value: string;
  readonly rows: number;
}

const MOST_LISTED = 8;
/** More different cells are not counted one by one, nor are longer ones: what is meant by a condition is repeated and short. */
const MOST_COUNTED = 1000;
const MOST_BYTES = 60;
/** Counts rows by their cells in bounded memory. */
export class CellCounts {
  rows = 0;
  readonly #counts = new Map<string, number>();

  /** The row's cells of some columns; several are counted together. */
  add(cells: RowCells, columns: readonly number[]): void {
    this.addText(joinCells(cells, columns));
  }

  /** Counts a row by what its cell is read as. */
  addText(text: string): void {
    this.rows += 1;
    const known = this.#counts.get(text);
    if (known === undefined && (this.#counts.size === MOST_COUNTED || Buffer.byteLength(text) > MOST_BYTES)) return;
    this.#counts.set(text, (known ?? 0) + 1);
  }

  /** All that are counted, the commonest first. */
  all(): CellCount[] {
    const rows = new Map<string, number>();
    for (const [text, count] of this.#counts) rows.set(text.trim(), (rows.get(text.trim()) ?? 0) + count);
    return [...rows]
      .map(([value, count]) => ({ value, rows: count }))
      .sort((a, b) => b.rows - a.rows || (a.value < b.value ? -1 : 1));
  }

  /** The commonest, without personal data: none where most differ, as names of people do. */
  list(): CellCount[] {
    const all = this.all();
    const distinct = all.length + this.rows - all.reduce((sum, { rows }) => sum + rows, 0);
    if (distinct > MOST_LISTED && distinct * 2 > this.rows) return [];
    return all.filter(({ value }) => !isPersonal(value)).slice(0, MOST_LISTED);
  }
}

function joinCells(cells: RowCells, columns: readonly number[]): string {
  if (columns.length === 1) return cells.cell(columns[0] ?? -1);
  return columns.map((column) => cells.cell(column).trim() || 'blank').join(' · ');
}

const DATE = /^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[T ].*)?$/;

/** An address, or as many digits as numbers of people have. */
function isPersonal(value: string): boolean {
  return value.includes('@') || (value.replace(/\P{Nd}/gu, '').length >= 7 && !DATE.test(value));
}
