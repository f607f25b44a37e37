import { ByteCells } from '../../domain/bytes/row-block.js';
import { TextBuffer } from '../../domain/bytes/text-buffer.js';
import type { Rejection } from '../../domain/row.js';
import { type DraftBlock, draftBlock, unpackCountry } from '../../input/fast/draft-block.js';
import type { ReadBlock } from '../../input/record-reader.js';
import type { DraftedRow, DraftRow, RowRefusal } from '../../kinds/step-kind.js';

/** What of a row is copied into the plan. */
export interface RowBytes {
  appendFragment(text: TextBuffer): void;
  /** Appends the facts, each with a comma before it. */
  appendFacts(text: TextBuffer): void;
  /** Appends the JSON of all cells. */
  appendCells(text: TextBuffer): void;
}

/** The rows of a block with their drafts, one at a time: `index` is to be set. */
export class DraftedRows implements DraftedRow, RowBytes {
  index = 0;
  ordinal = 0;
  readonly #rows: ReadBlock['rows'];
  readonly #cells: ByteCells;
  readonly #drafts: DraftBlock;

  constructor({ rows, drafts }: ReadBlock, draftRow: DraftRow) {
    this.#rows = rows;
    this.#cells = new ByteCells(rows);
    this.#drafts = drafts ?? draftBlock(rows, draftRow);
  }

  get count(): number {
    return this.#rows.lines.length;
  }

  get line(): number {
    return this.#rows.lines[this.index] as number;
  }

  get row(): number {
    return this.#rows.rows[this.index] as number;
  }

  get fault(): Rejection | undefined {
    return this.#rows.faults.get(this.index);
  }

  get ownId(): string | undefined {
    return this.#rows.ownIds.get(this.index);
  }

  get cells(): ByteCells {
    this.#cells.row = this.index;
    return this.#cells;
  }

  get refusal(): RowRefusal | undefined {
    return this.#drafts.refusals.get(this.index);
  }

  get number(): number | undefined {
    return this.#drafts.numbers[this.index] || undefined;
  }

  get segments(): number {
    return this.#drafts.segments[this.index] as number;
  }

  get extraParts(): number {
    return this.#drafts.extraParts[this.index] as number;
  }

  get country(): string | undefined {
    return unpackCountry(this.#drafts.countries[this.index] as number);
  }

  /** The characters that force UCS-2. */
  get ucs2(): string | undefined {
    return this.#drafts.ucs2.get(this.index);
  }

  get replaced(): string | undefined {
    return this.#drafts.replaced.get(this.index);
  }

  get hours(): string | undefined {
    return this.#drafts.hours.get(this.index);
  }

  get fragment(): Buffer {
    return Buffer.from(this.#drafts.texts.buffer, this.#start, this.#factsAt - this.#start);
  }

  get facts(): readonly string[] {
    return JSON.parse(`[${Buffer.from(this.#drafts.texts.buffer, this.#factsAt, this.#end - this.#factsAt)}]`);
  }

  appendFragment(text: TextBuffer): void {
    text.appendBytes(this.#drafts.texts, this.#start, this.#factsAt);
  }

  appendFacts(text: TextBuffer): void {
    if (this.#factsAt === this.#end) return;
    text.appendShort(',');
    text.appendBytes(this.#drafts.texts, this.#factsAt, this.#end);
  }

  get #start(): number {
    return this.index === 0 ? 0 : (this.#drafts.ends[this.index - 1] as number);
  }

  get #factsAt(): number {
    return this.#drafts.factsAt[this.index] as number;
  }

  get #end(): number {
    return this.#drafts.ends[this.index] as number;
  }

  appendCells(text: TextBuffer): void {
    const cells = this.#cells;
    cells.row = this.index;
    const { absent, width } = this.#rows;
    if (absent.size === 0) text.appendBytes(cells.bytes, cells.start, cells.end);
    else {
      const isAbsent = (column: number) => absent.has(this.index * width + column);
      text.append(JSON.stringify(cells.texts.map((cell, column) => (isAbsent(column) ? null : cell))));
    }
  }
}

const copied = new TextBuffer();

/** For a row that waits: a copy, as a block would stay in memory for one of its rows. */
export function keepRow(row: RowBytes): RowBytes {
  copied.clear();
  row.appendFragment(copied);
  const facts = copied.length;
  row.appendFacts(copied);
  const cells = copied.length;
  row.appendCells(copied);
  const bytes = copied.copy();
  return {
    appendFragment: (text) => text.appendBytes(bytes, 0, facts),
    appendFacts: (text) => text.appendBytes(bytes, facts, cells),
    appendCells: (text) => text.appendBytes(bytes, cells),
  };
}
