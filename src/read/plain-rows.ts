import type { Delimiter } from './delimiter.js';

export interface PlainRows {
  readonly rows: string[][];
  /** The line on which each begins. */
  readonly lines: number[];
  /** Blank lines before the last row; they are passed over. */
  readonly blankLines: number;
  /** Where the text goes on behind the last row, and the line that begins there. */
  readonly end: number;
  readonly nextLine: number;
  /** Whether a line stands there, blank ones aside, that is not plain. */
  readonly isStopped: boolean;
}

const QUOTE = 0x22;

/**
 * Cuts lines into rows, up to the first that is not plain. Plain is a row of one line that ends with LF or CRLF, whose fields have
 * no quotes or are quoted from end to end, and that is no longer than `maxLength` (UTF-16 units).
 * Of those it makes what csv-parse makes of them. `text` begins where a row does and ends with LF.
 */
export function cutPlainRows(
  text: string,
  options: { delimiter: Delimiter; line: number; maxLength: number },
): PlainRows {
  const { delimiter, maxLength } = options;
  const rows: string[][] = [];
  const lines: number[] = [];
  let { line } = options;
  let nextLine = line;
  let end = 0;
  let blankLines = 0;
  // The first of each at or behind the start of the line; beyond the text once there is none.
  let quote = indexFrom(text, '"', 0);
  let cr = indexFrom(text, '\r', 0);
  let isStopped = false;
  for (let start = 0; start < text.length; line += 1) {
    const lf = text.indexOf('\n', start);
    if (cr < start) cr = indexFrom(text, '\r', start);
    if (quote < start) quote = indexFrom(text, '"', start);
    const stop = cr === lf - 1 ? cr : lf;
    if (stop > start) {
      let row: string[] | undefined;
      if (stop - start <= maxLength && cr >= stop) {
        row = quote < stop ? cutQuoted(text, { start, stop, delimiter }) : text.slice(start, stop).split(delimiter);
      }
      if (row === undefined) {
        isStopped = true;
        break;
      }
      rows.push(row);
      lines.push(line);
      blankLines += line - nextLine;
      nextLine = line + 1;
      end = lf + 1;
    }
    start = lf + 1;
  }
  return { rows, lines, blankLines, end, nextLine, isStopped };
}

function indexFrom(text: string, wanted: string, from: number): number {
  const index = text.indexOf(wanted, from);
  return index === -1 ? text.length : index;
}

/** A line with quotes; undefined where one stands within a field, or is not closed on the line. */
function cutQuoted(
  text: string,
  { start, stop, delimiter }: { start: number; stop: number; delimiter: Delimiter },
): string[] | undefined {
  const row: string[] = [];
  for (let at = start; ; ) {
    const isQuoted = text.charCodeAt(at) === QUOTE;
    const end = isQuoted ? findClosing(text, at) + 1 : Math.min(indexFrom(text, delimiter, at), stop);
    if (end > stop || end === 0) return undefined;
    const field = isQuoted ? text.slice(at + 1, end - 1).replaceAll('""', '"') : text.slice(at, end);
    if (!isQuoted && field.includes('"')) return undefined;
    row.push(field);
    if (end === stop) return row;
    if (text[end] !== delimiter) return undefined;
    at = end + 1;
  }
}

/** The quote that closes the one at `opening`; -1 where none does. */
function findClosing(text: string, opening: number): number {
  for (let from = opening + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote === -1 || text.charCodeAt(quote + 1) !== QUOTE) return quote;
    from = quote + 2;
  }
}
