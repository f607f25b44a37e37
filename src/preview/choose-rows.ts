import { hash } from 'node:crypto';
import type { Cell } from '../domain/row.js';
import type { RowLine } from '../plan/format/row-line.js';
import { countSegments } from '../template/segments.js';

/** Which rows are shown; without any key, the first that are sent, and among them those that a suppression list skips. */
interface RowChoice {
  /** Number of the row in its file, whatever becomes of it. */
  readonly row?: number | undefined;
  /** E.164; also of a row that is not sent. */
  readonly to?: string | undefined;
  /** The rows with the most parts. */
  readonly longest?: boolean | undefined;
  /** The rows with a character that forces UCS-2. */
  readonly ucs2?: boolean | undefined;
  /** Drawn by this word: the same word draws the same rows. */
  readonly random?: string | undefined;
}

/** Which rows of a job or a run are shown. */
export interface ChosenRows {
  readonly choice: RowChoice;
  /** The most rows of each step. */
  readonly count: number;
  /** Steps of this kind alone; undefined: all. */
  readonly only?: string | undefined;
}

/** Keeps the rows of one step that a choice means, at most `count`. */
export function createRowChooser({ row, to, longest, ucs2, random }: RowChoice, most: number) {
  type Seen = { readonly row: PreviewedRow; readonly ordinal: number };
  const isAsked = [row, to, longest, ucs2, random].some((each) => each !== undefined && each !== false);
  /** Rows that a suppression list skips, before the last that is chosen; as many at most. Undefined where certain rows are asked for. */
  const suppressed: Seen[] | undefined = isAsked ? undefined : [];
  const chosen: (Seen & { readonly rank: number })[] = [];
  let seen = 0;
  const isRanked = longest === true || random !== undefined;
  const isMeant = (each: PreviewedRow) => {
    if (row !== undefined) return each.row.row === row;
    if (to !== undefined && each.message === undefined) return hasNumber(each.row.cells, to);
    if (each.message === undefined) return false;
    if (to !== undefined) return numberOf(each) === to;
    return ucs2 !== true || countOf(each)?.ucs2Characters !== undefined;
  };
  const rankOf = (each: PreviewedRow) => {
    if (longest === true) return -(countOf(each)?.segments ?? 0) * 1e6 - (countOf(each)?.units ?? 0);
    return isRanked ? hash('sha256', `${random}\n${seen}`, 'buffer').readUIntBE(0, 6) : 0;
  };
  return {
    see: (each: PreviewedRow): void => {
      seen += 1;
      if (suppressed !== undefined && suppressed.length < most && isSuppressed(each))
        suppressed.push({ row: each, ordinal: seen });
      if (!isMeant(each)) return;
      const rank = rankOf(each);
      if (chosen.length === most && rank >= (chosen.at(-1)?.rank ?? 0)) return;
      chosen.push({ row: each, rank, ordinal: seen });
      chosen.sort((a, b) => a.rank - b.rank || a.ordinal - b.ordinal);
      if (chosen.length > most) chosen.pop();
    },
    /** Whether no row that is still to come would be shown. */
    get isDone(): boolean {
      return !isRanked && chosen.length === most;
    },
    get rows(): PreviewedRow[] {
      if (suppressed === undefined) return chosen.map(({ row }) => row);
      const last = chosen.length === most ? (chosen.at(-1)?.ordinal ?? 0) : Number.POSITIVE_INFINITY;
      const before = suppressed.filter(({ ordinal }) => ordinal < last);
      return [...before, ...chosen].sort((a, b) => a.ordinal - b.ordinal).map(({ row }) => row);
    },
    get seen(): number {
      return seen;
    },
  };
}

function isSuppressed({ row }: PreviewedRow): boolean {
  return row.state === 'skipped' && (row.skip.code === 'suppressed' || row.skip.code === 'opted-out');
}

const FEWEST_DIGITS = 7;

/** Whether a cell has the number as it is written in some country. */
function hasNumber(cells: readonly Cell[], e164: string): boolean {
  return cells.some((cell = '') => {
    const digits = cell.replace(/\D/g, '').replace(/^0+/, '');
    return digits.length >= FEWEST_DIGITS && e164.endsWith(digits);
  });
}

function countOf({ message }: PreviewedRow): ReturnType<typeof countSegments> | undefined {
  return typeof message?.text === 'string' ? countSegments(message.text, 'AUTO') : undefined;
}

/** The number as the request names it by its kind: itself, among a contact's addresses, or of a user. */
function numberOf({ message }: PreviewedRow): unknown {
  const { destination, addresses, user } = (message ?? {}) as {
    readonly destination?: unknown;
    readonly addresses?: { readonly msisdn?: unknown };
    readonly user?: { readonly phone?: unknown };
  };
  return destination ?? addresses?.msisdn ?? user?.phone;
}

/** A row of a step, and what is sent for it. */
export interface PreviewedRow {
  /** As in the plan: `file` is an index into the inputs of the step. */
  readonly row: RowLine;
  /** The part of the request that is this row's; undefined where nothing is sent for it. */
  readonly message: Message | undefined;
  /** What it costs, a decimal text; null where the list has no price for it. Absent where the row or the job has no prices. */
  readonly price?: string | null | undefined;
}

/** JSON, as it is posted. */
export type Message = Readonly<Record<string, unknown>>;

/**
 * Joins the two files of a step, as they come: each planned row with its part of a request, by their order.
 * Holds what came of one of them and waits for the other.
 */
export function joinPreviewedRows(kind: string, onRow: (row: PreviewedRow) => void) {
  const rows: RowLine[] = [];
  const messages: Message[] = [];
  const join = () => {
    const count = Math.min(rows.length, messages.length);
    const joined = messages.splice(0, count);
    for (const [index, row] of rows.splice(0, count).entries()) onRow({ row, message: joined[index] });
  };
  return {
    get needsRequest(): boolean {
      return rows.length > 0;
    },
    addRow(row: RowLine): void {
      if (row.state !== 'planned') onRow({ row, message: undefined });
      else {
        rows.push(row);
        join();
      }
    },
    addRequest(bytes: Buffer): void {
      const body = JSON.parse(bytes.toString('utf8'));
      // A batch shares what its messages do not say themselves.
      if (kind === 'sms') {
        for (const message of body.messages) messages.push({ ...message, text: message.text ?? body.template.text });
      } else messages.push(body);
      join();
    },
  };
}
