import { ByteCells } from '../../domain/bytes/row-block.js';
import { TextBuffer } from '../../domain/bytes/text-buffer.js';
import type { RowCells } from '../../domain/row.js';
import type { Texts } from '../../input/fast/draft-block.js';
import type { DraftedBlock } from '../../input/record-reader.js';

/** What of a drafted row is copied into the plan. */
export interface RowBytes {
  appendFragment(text: TextBuffer): void;
  appendFacts(text: TextBuffer): void;
  /** JSON of all cells. */
  appendCells(text: TextBuffer): void;
}

/** The bytes of one row of a block at a time, to be copied into the plan. */
export class DraftedRow implements RowBytes {
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

/** Rows that wait: copies, as a block would stay in memory for one of its rows. */
export class KeptRows {
  readonly #kept = new TextBuffer();

  keep(row: RowBytes): RowBytes {
    const copied = (append: (text: TextBuffer) => void) => {
      const start = this.#kept.length;
      append(this.#kept);
      const end = this.#kept.length;
      return (text: TextBuffer) => text.appendBytes(this.#kept.bytes, start, end);
    };
    return {
      appendFragment: copied((text) => row.appendFragment(text)),
      appendFacts: copied((text) => row.appendFacts(text)),
      appendCells: copied((text) => row.appendCells(text)),
    };
  }
}

function appendText(text: TextBuffer, { bytes, ends }: Texts, index: number): void {
  text.appendBytes(bytes, startOf(ends, index), ends[index] as number);
}

function startOf(ends: Uint32Array, index: number): number {
  return index === 0 ? 0 : (ends[index - 1] as number);
}
