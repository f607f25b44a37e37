import { ByteCells } from '../../domain/bytes/row-block.js';
import type { TextBuffer } from '../../domain/bytes/text-buffer.js';
import type { RowCells } from '../../domain/row.js';
import type { Texts } from '../../input/fast/draft-block.js';
import type { DraftedBlock } from '../../input/record-reader.js';

/** The bytes of one row of a block at a time, to be copied into the plan. */
export class DraftedRow {
  /** Index of the row; to be set. */
  index = 0;
  readonly #cells: ByteCells;
  readonly #fragments: Texts;
  readonly #facts: Texts;

  constructor({ rows, drafts }: DraftedBlock) {
    this.#cells = new ByteCells(rows);
    this.#fragments = drafts.fragments;
    this.#facts = drafts.facts;
  }

  appendFragment(text: TextBuffer): void {
    appendText(text, this.#fragments, this.index);
  }

  appendFacts(text: TextBuffer): void {
    appendText(text, this.#facts, this.index);
  }

  get row(): RowCells {
    this.#cells.row = this.index;
    return this.#cells;
  }

  /** JSON of all cells. */
  appendCells(text: TextBuffer): void {
    const cells = this.#cells;
    cells.row = this.index;
    text.appendBytes(cells.bytes, cells.start, cells.end);
  }

  get cells(): string[] {
    this.#cells.row = this.index;
    return this.#cells.texts;
  }

  get fragment(): string {
    return this.fragmentBytes.toString('utf8');
  }

  get fragmentBytes(): Buffer {
    const { bytes, ends } = this.#fragments;
    return Buffer.from(bytes.buffer).subarray(startOf(ends, this.index), ends[this.index]);
  }
}

function appendText(text: TextBuffer, { bytes, ends }: Texts, index: number): void {
  text.appendBytes(bytes, startOf(ends, index), ends[index] as number);
}

function startOf(ends: Uint32Array, index: number): number {
  return index === 0 ? 0 : (ends[index - 1] as number);
}
