import type { TextBuffer } from '../../domain/bytes/text-buffer.js';
import type { UserError } from '../../domain/errors.js';
import type { Cell, Rejection, Skip } from '../../domain/row.js';
import type { RowRefusal } from '../../kinds/step-kind.js';
import type { RowBytes } from './drafted-row.js';
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
    if (rows.every(isRow)) return rows;
  } catch {
    // Refused below.
  }
  throw lineDamaged(where);
}

function lineDamaged(where: string): UserError {
  return planDamaged(where, 'a row in it is damaged');
}

function isRow([state, , , , about, cells]: RowValues): boolean {
  return STATES.includes(state) && Array.isArray(about) && Array.isArray(cells);
}

const STATES: readonly unknown[] = ['p', 'r', 's'];
