import { ByteCells, type RowBlock } from '../../domain/bytes/row-block.js';
import { TextBuffer } from '../../domain/bytes/text-buffer.js';
import type { Rejection } from '../../domain/row.js';
import type { DraftRow, DraftText } from '../../kinds/step-kind.js';

/** Drafts of the rows of a block as bytes, which pass between threads and into a plan unchanged. */
export interface DraftBlock {
  /** Of each row the digits of its number, which are exact: there are 15 at most. 0 where there is none. */
  readonly numbers: Float64Array<ArrayBuffer>;
  /** Of each row, 0 where it has a rejection. Invariant: no message that can be sent has more than 255. */
  readonly segments: Uint8Array<ArrayBuffer>;
  /** Of each row's segments, what UCS-2 adds; undefined if it adds none to any. */
  readonly extraParts: Uint8Array<ArrayBuffer> | undefined;
  readonly fragments: Texts;
  /** JSON without brackets. */
  readonly facts: Texts;
  readonly countries: Names;
  /** Of each row the characters that force UCS-2. */
  readonly ucs2: Names;
  /** Why `where` omits rows; undefined if it omits none. */
  readonly omitted: Names | undefined;
  /** Characters that were replaced in texts; undefined where none was. */
  readonly replaced: Names | undefined;
  /** By the row's index in the block. */
  readonly rejections: ReadonlyMap<number, Rejection>;
}

/** A text of UTF-8 for each row, one behind the other; an empty one for a row with a rejection. */
export interface Texts {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly ends: Uint32Array<ArrayBuffer>;
}

/** A name for each row, or none. */
export interface Names {
  /** Each once. */
  readonly names: readonly string[];
  /** Of each row, which of them it has: 1 the first, 0 none. */
  readonly of: Uint16Array<ArrayBuffer>;
}

/** Reused for every block: allocating takes longer than filling. */
const text: DraftText = { fragment: new TextBuffer(), facts: new TextBuffer() };

/** Of at most 65,535 rows. One that cannot be read has no draft: its rejection is the fault. */
export function draftBlock(block: RowBlock, draftRow: DraftRow): DraftBlock {
  const count = block.lines.length;
  const cells = new ByteCells(block);
  const numbers = new Float64Array(count);
  const segments = new Uint8Array(count);
  let extraParts: Uint8Array<ArrayBuffer> | undefined;
  const fragmentEnds = new Uint32Array(count);
  const factsEnds = new Uint32Array(count);
  const countries = new NameColumn(count);
  const ucs2 = new NameColumn(count);
  let omitted: NameColumn | undefined;
  let replaced: NameColumn | undefined;
  const rejections = new Map(block.faults);
  text.fragment.clear();
  text.facts.clear();
  for (let index = 0; index < count; index += 1) {
    cells.row = index;
    if (!block.faults.has(index)) {
      const draft = draftRow(cells, text);
      if (draft.rejection !== undefined) rejections.set(index, draft.rejection);
      if (draft.number !== undefined) {
        numbers[index] = draft.number;
        segments[index] = draft.segments;
        if (draft.extraParts > 0) {
          extraParts ??= new Uint8Array(count);
          extraParts[index] = draft.extraParts;
        }
        countries.set(index, draft.country);
        ucs2.set(index, draft.forcesUcs2);
        if (draft.replaced !== undefined) {
          replaced ??= new NameColumn(count);
          replaced.set(index, draft.replaced);
        }
      } else if (draft.rejection === undefined) {
        omitted ??= new NameColumn(count);
        omitted.set(index, draft.omitted);
      }
    }
    fragmentEnds[index] = text.fragment.length;
    factsEnds[index] = text.facts.length;
  }
  return {
    numbers,
    segments,
    extraParts,
    fragments: { bytes: text.fragment.copy(), ends: fragmentEnds },
    facts: { bytes: text.facts.copy(), ends: factsEnds },
    countries: countries.end(),
    ucs2: ucs2.end(),
    omitted: omitted?.end(),
    replaced: replaced?.end(),
    rejections,
  };
}

class NameColumn {
  readonly of: Uint16Array<ArrayBuffer>;
  readonly #numbers = new Map<string, number>();
  /** Mostly that of the row before. */
  #last = { name: '', number: 0 };

  constructor(count: number) {
    this.of = new Uint16Array(count);
  }

  set(index: number, name: string | undefined): void {
    if (name === undefined) return;
    if (name === this.#last.name) {
      this.of[index] = this.#last.number;
      return;
    }
    const number = this.#numbers.get(name) ?? this.#numbers.size + 1;
    this.#numbers.set(name, number);
    this.of[index] = number;
    this.#last = { name, number };
  }

  end(): Names {
    return { names: [...this.#numbers.keys()], of: this.of };
  }
}
