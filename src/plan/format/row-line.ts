import type { TextBuffer } from '../../domain/bytes/text-buffer.js';
import type { UserError } from '../../domain/errors.js';
import type { Cell, Rejection, Skip } from '../../domain/row.js';
import type { RowRefusal } from '../../kinds/step-kind.js';
import type { RowBytes } from './drafted-row.js';
import { planDamaged } from './plan-damaged.js';

export type RowLine = RowHead & { readonly cells: readonly Cell[] };

/** A row's line without its cells. */
export type RowHead = {
  readonly file: number;
  readonly line: number;
  readonly row: number;
  /** Its id in the run that it was re-imported from. */
  readonly from?: string | undefined;
} & (
  | {
      readonly state: 'planned';
      readonly request: number;
      readonly facts: readonly string[];
      /** Index of its group in the step's cost (step-cost.ts); absent where the step has none. */
      readonly costGroup?: number | undefined;
    }
  | { readonly state: 'rejected'; readonly rejection: Rejection }
  | { readonly state: 'skipped'; readonly skip: Skip }
);

/** `cellsJson`: the cells of the row. */
export function encodeRowLine(head: RowHead, cellsJson: string): string {
  const end = head.from === undefined ? ROW_END : `,${JSON.stringify(head.from)}${ROW_END}`;
  return `${encodeRowStart(head)}${cellsJson}${end}`;
}

const ROW_END = ']\n';

function encodeRowStart(head: RowHead): string {
  const place = `${head.file},${head.line},${head.row}`;
  switch (head.state) {
    case 'planned':
      return `["p",${place},[${head.request}${encodeFacts(head.facts)}${encodeCostGroup(head.costGroup)}],`;
    case 'rejected': {
      const { stage, field, code, reason } = head.rejection;
      return `["r",${place},${JSON.stringify([stage, field, code, reason])},`;
    }
    case 'skipped':
      return `["s",${place},${JSON.stringify([head.skip.code, head.skip.reason])},`;
  }
}

function encodeCostGroup(costGroup: number | undefined): string {
  return costGroup === undefined ? '' : `,${costGroup}`;
}

/** Where a row stands; `file` is the index of its file. */
export type RowPlace = Pick<RowHead, 'file' | 'line' | 'row'>;

const STARTS = { planned: '["p",', rejected: '["r",', skipped: '["s",' } as const;

/**
 * The same lines as bytes, for rows without an id from another run whose cells are JSON already: the start, what became of the
 * row, and the end.
 */
export function appendRowStart(text: TextBuffer, state: RowHead['state'], { file, line, row }: RowPlace): void {
  text.appendShort(STARTS[state]);
  text.appendInteger(file);
  text.appendShort(',');
  text.appendInteger(line);
  text.appendShort(',');
  text.appendInteger(row);
  text.appendShort(',[');
}

/** Of a row that is planned. */
export function appendRequest(text: TextBuffer, request: number, row: RowBytes): void {
  text.appendInteger(request);
  text.appendShort(',');
  row.appendFacts(text);
}

/** Behind the facts. */
export function appendCostGroup(text: TextBuffer, costGroup: number): void {
  text.appendShort(',');
  text.appendInteger(costGroup);
}

export function appendRefusal(text: TextBuffer, refusal: RowRefusal): void {
  if (refusal.kind === 'rejected') {
    const { stage, field, code, reason } = refusal.rejection;
    text.appendStrings([stage, field, code, reason]);
  } else text.appendStrings([refusal.skip.code, refusal.skip.reason]);
}

export function appendRowEnd(text: TextBuffer, row: RowBytes): void {
  text.appendShort('],');
  row.appendCells(text);
  text.appendShort(ROW_END);
}

/** Characters that JSON does not escape; numbers and ids have no others. */
const PLAIN = /^[\w+.-]*$/;

function encodeFacts(facts: readonly string[]): string {
  let text = '';
  for (const fact of facts) text += PLAIN.test(fact) ? `,"${fact}"` : `,${JSON.stringify(fact)}`;
  return text;
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
