import type { Rejection } from '../domain.js';
import type { MessageDraft, RowDraft } from '../steps/kind.js';

/** Drafts of the rows of a block, as few texts. */
export interface DraftBlock {
  /** Of each row, a line each; empty where there is no number. */
  readonly e164: string;
  /** ISO alpha-2 of each row, one behind the other. */
  readonly countries: string;
  /** Those of each row, one behind the other, and where each ends. */
  readonly texts: string;
  readonly textEnds: Uint32Array;
  /** Invariant: no message that can be sent has more than 255. */
  readonly segments: Uint8Array;
  /** Characters that force UCS-2, each once. */
  readonly ucs2Characters: readonly string[];
  /** For each row, which of them forces it: 1 the first, 0 none. */
  readonly ucs2: Uint16Array;
  /** By the row's index in the block. */
  readonly rejections: ReadonlyMap<number, Rejection>;
}

const NO_COUNTRY = '--';

/** One for each row of a block, at least one and at most 65,535; undefined for a row that cannot be read. */
export function encodeDrafts(drafts: readonly (RowDraft | undefined)[]): DraftBlock {
  const count = drafts.length;
  const e164 = new Array<string>(count).fill('');
  const texts = new Array<string>(count).fill('');
  const textEnds = new Uint32Array(count);
  const segments = new Uint8Array(count);
  const ucs2 = new Uint16Array(count);
  const characters = new Map<string, number>();
  const rejections = new Map<number, Rejection>();
  let countries = '';
  let end = 0;
  for (let index = 0; index < count; index += 1) {
    const draft = drafts[index];
    if (draft?.rejection !== undefined) rejections.set(index, draft.rejection);
    if (draft?.e164 !== undefined) end += draft.text.length;
    textEnds[index] = end;
    if (draft?.e164 === undefined) {
      countries += NO_COUNTRY;
      continue;
    }
    e164[index] = draft.e164;
    countries += draft.country;
    texts[index] = draft.text;
    segments[index] = draft.segments;
    if (draft.forcesUcs2 !== undefined) ucs2[index] = numberOf(characters, draft.forcesUcs2);
  }
  const ucs2Characters = [...characters.keys()];
  return {
    e164: e164.join('\n'),
    countries,
    texts: texts.join(''),
    textEnds,
    segments,
    ucs2Characters,
    ucs2,
    rejections,
  };
}

/** From 1, in the order of first use. */
function numberOf(characters: Map<string, number>, character: string): number {
  const number = characters.get(character) ?? characters.size + 1;
  characters.set(character, number);
  return number;
}

/** The draft of a row by its index in the block; undefined for a row that cannot be read. */
export function decodeDrafts(block: DraftBlock): (index: number) => RowDraft | undefined {
  const columns = { block, numbers: block.e164.split('\n') };
  return (index) => {
    if (columns.numbers[index] !== '') return new BlockDraft(columns, index);
    const rejection = block.rejections.get(index);
    return rejection && { e164: undefined, rejection };
  };
}

interface DraftColumns {
  readonly block: DraftBlock;
  readonly numbers: readonly string[];
}

/** Of a row with a number. */
class BlockDraft implements MessageDraft {
  readonly #columns: DraftColumns;
  readonly #index: number;

  constructor(columns: DraftColumns, index: number) {
    this.#columns = columns;
    this.#index = index;
  }

  get e164(): string {
    return this.#columns.numbers[this.#index] as string;
  }

  get country(): string {
    return this.#columns.block.countries.slice(2 * this.#index, 2 * this.#index + 2);
  }

  get rejection(): Rejection | undefined {
    return this.#columns.block.rejections.get(this.#index);
  }

  get text(): string {
    const { texts, textEnds } = this.#columns.block;
    return texts.slice(this.#index === 0 ? 0 : textEnds[this.#index - 1], textEnds[this.#index]);
  }

  get segments(): number {
    return this.#columns.block.segments[this.#index] as number;
  }

  get forcesUcs2(): string | undefined {
    const { ucs2, ucs2Characters } = this.#columns.block;
    return ucs2Characters[(ucs2[this.#index] as number) - 1];
  }
}
