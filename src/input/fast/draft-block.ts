import { ByteCells, type RowBlock } from '../../domain/bytes/row-block.js';
import { TextBuffer } from '../../domain/bytes/text-buffer.js';
import { type DraftRow, type DraftText, type RowRefusal, reject } from '../../kinds/step-kind.js';

/** Drafts of the rows of a block as bytes, which pass between threads and into a plan unchanged. */
export interface DraftBlock {
  /** Of each row the digits of its number, which are exact: there are 15 at most. 0 where there is none. */
  readonly numbers: Float64Array<ArrayBuffer>;
  /** Invariant: no message that can be sent has more than 255. */
  readonly segments: Uint8Array<ArrayBuffer>;
  /** Of each row's segments, what UCS-2 adds. */
  readonly extraParts: Uint8Array<ArrayBuffer>;
  readonly fragments: Texts;
  /** JSON without brackets. */
  readonly facts: Texts;
  readonly countries: Names;
  /** Of each row the characters that force UCS-2, those that were replaced in its text, and its group of hours. */
  readonly ucs2: Names;
  readonly replaced: Names;
  readonly hours: Names;
  /** By the row's index in the block, those that are not sent. */
  readonly refusals: ReadonlyMap<number, RowRefusal>;
}

/** A text of UTF-8 for each row, one behind the other; an empty one for a row that was refused. */
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

/** Of at most 65,535 rows. One that cannot be read has no draft: it is refused for its fault. */
export function draftBlock(block: RowBlock, draftRow: DraftRow): DraftBlock {
  const count = block.lines.length;
  const cells = new ByteCells(block);
  const numbers = new Float64Array(count);
  const segments = new Uint8Array(count);
  const extraParts = new Uint8Array(count);
  const fragmentEnds = new Uint32Array(count);
  const factsEnds = new Uint32Array(count);
  const [countries, ucs2] = [new NameColumn(count), new NameColumn(count)];
  const [replaced, hours] = [new NameColumn(count), new NameColumn(count)];
  const refusals = new Map<number, RowRefusal>();
  for (const [index, fault] of block.faults) refusals.set(index, reject(fault));
  text.fragment.clear();
  text.facts.clear();
  for (let index = 0; index < count; index += 1) {
    cells.row = index;
    if (!block.faults.has(index)) {
      const draft = draftRow(cells, text);
      if (draft.refusal !== undefined) refusals.set(index, draft.refusal);
      numbers[index] = draft.number ?? 0;
      segments[index] = draft.segments ?? 0;
      extraParts[index] = draft.extraParts ?? 0;
      countries.set(index, draft.country);
      ucs2.set(index, draft.forcesUcs2);
      replaced.set(index, draft.replaced);
      hours.set(index, draft.hours);
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
    replaced: replaced.end(),
    hours: hours.end(),
    refusals,
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
    if (name !== this.#last.name) {
      const number = this.#numbers.get(name) ?? this.#numbers.size + 1;
      this.#numbers.set(name, number);
      this.#last = { name, number };
    }
    this.of[index] = this.#last.number;
  }

  end(): Names {
    return { names: [...this.#numbers.keys()], of: this.of };
  }
}
