import { ByteCells, type RowBlock } from '../../domain/bytes/row-block.js';
import { TextBuffer } from '../../domain/bytes/text-buffer.js';
import { type DraftRow, type RowDraft, type RowRefusal, reject } from '../../kinds/step-kind.js';

/** Drafts of the rows of a block as bytes, which pass between threads and into a plan unchanged. */
export interface DraftBlock {
  /** The digits of each row's number, which are exact: there are 15 at most. 0 where there is none. */
  readonly numbers: Float64Array<ArrayBuffer>;
  /** The segments of each row. Invariant: no message that can be sent has more than 255. */
  readonly segments: Uint8Array<ArrayBuffer>;
  /** How many of each row's segments UCS-2 adds. */
  readonly extraParts: Uint8Array<ArrayBuffer>;
  /** UTF-8: what each row adds to the body, then its facts; where these begin and end stands below. A refused row has none. */
  readonly texts: Uint8Array<ArrayBuffer>;
  readonly factsAt: Uint32Array<ArrayBuffer>;
  readonly ends: Uint32Array<ArrayBuffer>;
  /** The two letters of each row's country; 0 where there is none. */
  readonly countries: Uint16Array<ArrayBuffer>;
  /** By the row's index in the block: the characters that force UCS-2, those that were replaced in its text, its group of hours. */
  readonly ucs2: ReadonlyMap<number, string>;
  readonly replaced: ReadonlyMap<number, string>;
  readonly hours: ReadonlyMap<number, string>;
  /** Why a row is not sent, by the row's index in the block. */
  readonly refusals: ReadonlyMap<number, RowRefusal>;
}

/** Reused for every block: allocating takes longer than filling. */
const text = new TextBuffer();

/** A row that cannot be read has no draft: it is refused for its fault. */
export function draftBlock(block: RowBlock, draftRow: DraftRow): DraftBlock {
  const count = block.lines.length;
  const cells = new ByteCells(block);
  const numbers = new Float64Array(count);
  const segments = new Uint8Array(count);
  const extraParts = new Uint8Array(count);
  const factsAt = new Uint32Array(count);
  const ends = new Uint32Array(count);
  const countries = new Uint16Array(count);
  const [ucs2, replaced, hours] = [new Map<number, string>(), new Map<number, string>(), new Map<number, string>()];
  const refusals = new Map<number, RowRefusal>();
  for (const [index, fault] of block.faults) refusals.set(index, reject(fault));
  text.clear();
  for (let index = 0; index < count; index += 1) {
    cells.row = index;
    const draft: RowDraft = block.faults.has(index) ? {} : draftRow(cells, text);
    if (draft.refusal !== undefined) refusals.set(index, draft.refusal);
    factsAt[index] = draft.factsAt ?? text.length;
    numbers[index] = draft.number ?? 0;
    segments[index] = draft.segments ?? 0;
    extraParts[index] = draft.extraParts ?? 0;
    countries[index] = packCountry(draft.country);
    if (draft.forcesUcs2 !== undefined) ucs2.set(index, draft.forcesUcs2);
    if (draft.replaced !== undefined) replaced.set(index, draft.replaced);
    if (draft.hours !== undefined) hours.set(index, draft.hours);
    ends[index] = text.length;
  }
  return {
    numbers,
    segments,
    extraParts,
    texts: text.copy(),
    factsAt,
    ends,
    countries,
    ucs2,
    replaced,
    hours,
    refusals,
  };
}

function packCountry(country: string | undefined): number {
  return country === undefined ? 0 : (country.charCodeAt(0) << 8) | country.charCodeAt(1);
}

export function unpackCountry(packed: number): string | undefined {
  return packed === 0 ? undefined : String.fromCharCode(packed >> 8, packed & 0xff);
}
