import type { Rejection, SourceRecord } from '../domain.js';
import { TextBuffer } from '../text-buffer.js';
import type { DraftRow, RowDraft } from './kind.js';

/** Drafts of many rows as bytes, which go from thread to thread and into a plan as they are. */
export interface DraftBlock {
  /** Of each row the digits of its number, which are exact: there are 15 at most. 0 where there is none. */
  readonly numbers: Float64Array<ArrayBuffer>;
  /** Of each row, 0 where it has a rejection. Invariant: no message that can be sent has more than 255. */
  readonly segments: Uint8Array<ArrayBuffer>;
  /** Of each row two lines of UTF-8, each ended by LF: its fragment, and its facts as JSON without brackets. */
  readonly lines: Uint8Array<ArrayBuffer>;
  readonly countries: Names;
  /** Characters that force UCS-2. */
  readonly ucs2: Names;
  /** By the row's index in the block. */
  readonly rejections: ReadonlyMap<number, Rejection>;
}

/** A name for each row, or none. */
export interface Names {
  /** Each once. */
  readonly names: readonly string[];
  /** Of each row, which of them it has: 1 the first, 0 none. */
  readonly of: Uint16Array<ArrayBuffer>;
}

/** For one block after the other: new memory for each would take longer to come by than to fill. */
const lines = new TextBuffer();

/** Of at most 65,535 rows. One that cannot be read has no draft: its rejection is the fault. */
export function draftBlock(records: readonly SourceRecord[], draftRow: DraftRow): DraftBlock {
  const count = records.length;
  const numbers = new Float64Array(count);
  const segments = new Uint8Array(count);
  const countries = new NameColumn(count);
  const ucs2 = new NameColumn(count);
  const rejections = new Map<number, Rejection>();
  lines.clear();
  for (let index = 0; index < count; index += 1) {
    const { cells, fault } = records[index] as SourceRecord;
    const draft: RowDraft = fault === undefined ? draftRow(cells, lines) : { e164: undefined, rejection: fault };
    if (draft.rejection !== undefined) rejections.set(index, draft.rejection);
    if (draft.e164 !== undefined) numbers[index] = Number(draft.e164);
    if (draft.e164 === undefined || draft.rejection !== undefined) {
      lines.appendShort('\n\n');
      continue;
    }
    segments[index] = draft.segments;
    countries.set(index, draft.country);
    ucs2.set(index, draft.forcesUcs2);
    lines.appendShort('\n');
    lines.appendStrings(draft.facts);
    lines.appendShort('\n');
  }
  return {
    numbers,
    segments,
    lines: lines.copy(),
    countries: countries.end(),
    ucs2: ucs2.end(),
    rejections,
  };
}

class NameColumn {
  readonly of: Uint16Array<ArrayBuffer>;
  readonly #numbers = new Map<string, number>();

  constructor(count: number) {
    this.of = new Uint16Array(count);
  }

  set(index: number, name: string | undefined): void {
    if (name === undefined) return;
    const number = this.#numbers.get(name) ?? this.#numbers.size + 1;
    this.#numbers.set(name, number);
    this.of[index] = number;
  }

  end(): Names {
    return { names: [...this.#numbers.keys()], of: this.of };
  }
}
