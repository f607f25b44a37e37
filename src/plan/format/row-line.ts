import { ByteCells } from '../../domain/bytes/row-block.js';
import { TextBuffer } from '../../domain/bytes/text-buffer.js';
import type { UserError } from '../../domain/errors.js';
import type { Cell, Rejection, Skip } from '../../domain/row.js';
import { type DraftBlock, draftBlock, type ReadBlock, unpackCountry } from '../../input/record-reader.js';
import type { DraftedRow, DraftRow, RowRefusal } from '../../kinds/step-kind.js';
import { planDamaged } from './sealed-json.js';

export type RowLine = {
  readonly cells: readonly Cell[];
  readonly file: number;
  readonly line: number;
  readonly row: number;
  /** Its id, where another plan had it before. */
  readonly from?: string | undefined;
} & (
  | {
      readonly state: 'planned';
      readonly request: number;
      readonly facts: readonly string[];
      /** Index of its group in the step's cost (cost-tally.ts); absent where the step has none. */
      readonly costGroup?: number | undefined;
    }
  | { readonly state: 'rejected'; readonly rejection: Rejection }
  | { readonly state: 'skipped'; readonly skip: Skip }
);

/** Where a row stands; `file` is the index of its file. */
export type RowPlace = Pick<RowLine, 'file' | 'line' | 'row' | 'from'>;

export interface PlannedPlace extends RowPlace {
  /** The index of its group where its step has prices (cost-tally.ts). */
  readonly costGroup: number | undefined;
}

export function appendPlannedRow(text: TextBuffer, place: PlannedPlace, request: number, row: RowBytes): void {
  appendStart(text, '["p",', place);
  text.appendInteger(request);
  row.appendFacts(text);
  if (place.costGroup !== undefined) {
    text.appendShort(',');
    text.appendInteger(place.costGroup);
  }
  appendEnd(text, place, row);
}

export function appendRefusedRow(text: TextBuffer, place: RowPlace, refusal: RowRefusal, row: RowBytes): void {
  if (refusal.kind === 'rejected') {
    const { stage, field, code, reason } = refusal.rejection;
    appendStart(text, '["r",', place);
    text.append(JSON.stringify([stage, field, code, reason]).slice(1, -1));
  } else {
    appendStart(text, '["s",', place);
    text.append(JSON.stringify([refusal.skip.code, refusal.skip.reason]).slice(1, -1));
  }
  appendEnd(text, place, row);
}

function appendStart(text: TextBuffer, start: string, { file, line, row }: RowPlace): void {
  text.appendShort(start);
  text.appendInteger(file);
  text.appendShort(',');
  text.appendInteger(line);
  text.appendShort(',');
  text.appendInteger(row);
  text.appendShort(',[');
}

function appendEnd(text: TextBuffer, { from }: RowPlace, row: RowBytes): void {
  text.appendShort('],');
  row.appendCells(text);
  if (from !== undefined) text.append(`,${JSON.stringify(from)}`);
  text.appendShort(']\n');
}

/** Throws UserError 'plan-damaged' for an invalid line; `where` names its file. */
export function decodeRowLine(line: string, where: string): RowLine {
  const [row] = decodeRowLines(line, where);
  if (row === undefined) throw lineDamaged(where);
  return row;
}

/** The rows of whole lines. Throws UserError 'plan-damaged' for an invalid line. */
export function decodeRowLines(lines: string, where: string): RowLine[] {
  return parseRowLines(lines, where).map((values) => {
    const line = decodeValues(values);
    const from = values[6];
    return from === undefined ? line : { ...line, from };
  });
}

type RowValues = ReturnType<typeof JSON.parse>;

function decodeValues([state, file, line, row, about, written]: RowValues): RowLine {
  const cells = written.includes(null) ? written.map((cell: string | null) => cell ?? undefined) : written;
  if (state === 'p') {
    const [request, ...facts] = about;
    const planned = { state: 'planned', file, line, row, cells, request, facts } as const;
    // Facts are texts.
    return typeof facts.at(-1) === 'number' ? { ...planned, costGroup: facts.pop() } : planned;
  }
  if (state === 's') return { state: 'skipped', file, line, row, cells, skip: { code: about[0], reason: about[1] } };
  const [stage, field, code, reason] = about;
  return { state: 'rejected', file, line, row, cells, rejection: { stage, field, code, reason } };
}

/** Parsed as one array, in half the time: a line break stands between rows only, JSON escapes it within a cell. */
function parseRowLines(lines: string, where: string): RowValues[] {
  try {
    const rows: RowValues[] = JSON.parse(`[${lines.trimEnd().replaceAll('\n', ',')}]`);
    const isRow = ([state, , , , about, cells]: RowValues) =>
      STATES.includes(state) && Array.isArray(about) && Array.isArray(cells);
    if (rows.every(isRow)) return rows;
  } catch {
    // Refused below.
  }
  throw lineDamaged(where);
}

function lineDamaged(where: string): UserError {
  return planDamaged(where, 'a row in it is damaged');
}

const STATES: readonly unknown[] = ['p', 'r', 's'];

/** What of a row is copied into the plan. */
export interface RowBytes {
  appendFragment(text: TextBuffer): void;
  /** Appends the facts, each with a comma before it. */
  appendFacts(text: TextBuffer): void;
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
