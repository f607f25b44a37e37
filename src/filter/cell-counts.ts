import type { CellBytes, RowCells } from '../domain/row.js';

/** A cell without the blanks around it, '' where it is blank, and in how many rows it stands. */
export interface CellCount {
  readonly value: string;
  readonly rows: number;
}

const MOST_LISTED = 8;
/** More different cells are not counted one by one, nor are longer ones: what is meant by a condition is repeated and short. */
const MOST_COUNTED = 1000;
const MOST_BYTES = 60;
/** A power of two, of which the counted cells fill a quarter at most. */
const SLOTS = 4096;

/**
 * Counts rows by their cells in bounded memory. Cells that are bytes are looked up as bytes, since a string for each row
 * takes longer than all else that is done with a row left out; the counts are the same.
 */
export class CellCounts {
  rows = 0;
  readonly #indexes = new Map<string, number>();
  readonly #counts: number[] = [];
  /** By the hash of a cell's bytes, which of `#known` it is: 1 the first, 0 none. */
  #slots: Uint16Array | undefined;
  readonly #known: { readonly bytes: Uint8Array; readonly index: number }[] = [];

  /** The row's cells of some columns; several are counted together. */
  add(cells: RowCells, columns: readonly number[]): void {
    this.rows += 1;
    const { asBytes } = cells;
    const isBytes = asBytes !== undefined && columns.length === 1;
    const index = isBytes
      ? this.#indexOfBytes(cells, asBytes, columns[0] as number)
      : this.#indexOf(joinCells(cells, columns));
    if (index !== undefined) this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  /** Counts a row by what its cell is read as. */
  addText(text: string): void {
    this.rows += 1;
    const index = this.#indexOf(text);
    if (index !== undefined) this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  /** All that are counted, the commonest first. */
  all(): CellCount[] {
    const rows = new Map<string, number>();
    for (const [text, index] of this.#indexes)
      rows.set(text.trim(), (rows.get(text.trim()) ?? 0) + (this.#counts[index] ?? 0));
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

  /** Undefined for a cell that is not counted by itself. */
  #indexOf(text: string): number | undefined {
    const known = this.#indexes.get(text);
    if (known !== undefined) return known;
    if (this.#indexes.size === MOST_COUNTED || Buffer.byteLength(text) > MOST_BYTES) return undefined;
    this.#indexes.set(text, this.#indexes.size);
    return this.#indexes.size - 1;
  }

  #indexOfBytes(cells: RowCells, asBytes: CellBytes, column: number): number | undefined {
    const { bytes } = asBytes;
    const start = asBytes.startOf(column);
    const end = asBytes.endOf(column);
    if (end - start > MOST_BYTES) return this.#indexOf(cells.cell(column));
    this.#slots ??= new Uint16Array(SLOTS);
    let slot = hash(bytes, start, end) % SLOTS;
    for (let at = this.#slots[slot] as number; at > 0; at = this.#slots[slot] as number) {
      const known = this.#known[at - 1];
      if (known !== undefined && isSame(known.bytes, { bytes, start, end })) return known.index;
      slot = (slot + 1) % SLOTS;
    }
    const isFull = this.#known.length === MOST_COUNTED;
    const index = isFull ? undefined : this.#indexOf(cells.cell(column));
    if (index === undefined) return undefined;
    this.#known.push({ bytes: bytes.slice(start, end), index });
    this.#slots[slot] = this.#known.length;
    return index;
  }
}

/** FNV-1a. */
function hash(bytes: Uint8Array, start: number, end: number): number {
  let value = 0x811c9dc5;
  for (let at = start; at < end; at += 1) value = Math.imul(value ^ (bytes[at] as number), 0x01000193);
  return value >>> 0;
}

function isSame(
  known: Uint8Array,
  { bytes, start, end }: { readonly bytes: Uint8Array; readonly start: number; readonly end: number },
): boolean {
  if (known.length !== end - start) return false;
  for (let at = 0; at < known.length; at += 1) if (known[at] !== bytes[start + at]) return false;
  return true;
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
