import { createHash } from 'node:crypto';
import type { Cell } from '../domain/row.js';

/** UTF-16 units that are digested at once. */
const GATHERED_UNITS = 1 << 16;

/**
 * A digest of the rows of a file as they were read: names and cells, in their order. The same rows give the same one in whatever
 * encoding, with whatever delimiter, quotes and ends of lines they are written, and as NDJSON.
 */
export class RowsDigest {
  readonly #hash = createHash('sha256');
  #gathered = '';

  /** JSON of each row's cells, each ended by LF, as a block of rows holds it. */
  addRows(cells: Uint8Array): void {
    this.#hash.update(cells);
  }

  /** `cellsJson`: the same of one row, without the LF; undefined where it is still to be written. */
  addRow({ cells, cellsJson }: { cells: readonly Cell[]; cellsJson?: string | undefined }, width: number): void {
    this.#gathered += `${cellsJson ?? JSON.stringify(Array.from({ length: width }, (_, at) => cells[at] ?? ''))}\n`;
    if (this.#gathered.length > GATHERED_UNITS) this.#digestGathered();
  }

  /** SHA-256, in hex. */
  finish(columns: readonly string[]): string {
    this.#digestGathered();
    return this.#hash.update(JSON.stringify(columns)).digest('hex');
  }

  #digestGathered(): void {
    this.#hash.update(this.#gathered);
    this.#gathered = '';
  }
}
