import { neutralizeCell } from '../domain/formula-cell.js';
import type { Cell } from '../domain/row.js';

export type OutputFormat = 'csv' | 'ndjson';

/**
 * Turns the rows of an output into lines: RFC 4180 with LF, or one JSON object a line. JSON has each key once, so
 * unnamed columns, which nothing can refer to, are omitted there.
 */
export interface LineFormat {
  readonly header: string;
  line(cells: readonly (Cell | number)[]): string;
}

export function createLineFormat(format: OutputFormat, columns: readonly string[]): LineFormat {
  if (format === 'csv') return { header: formatCsvLine(columns), line: formatCsvLine };
  const keys = columns.map((column) => JSON.stringify(column));
  return {
    header: '',
    line: (cells) => {
      const members = keys.flatMap((key, index) => {
        const cell = cells[index];
        return cell === undefined || key === NAMELESS ? [] : [`${key}:${JSON.stringify(cell)}`];
      });
      return `{${members.join(',')}}\n`;
    },
  };
}

const NAMELESS = JSON.stringify('');
/** `;`, tab and `|` as well: for a reader that splits there too, as long as it heeds quotes. */
const NEEDS_QUOTES = /[",;|\t\r\n]|^\s|\s$/;

/**
 * Most cells: a number in E.164, or ASCII that begins with a letter or a digit, does not end with a blank and has nothing to
 * be quoted for. One test instead of four.
 */
const PLAIN = /^(?:[A-Za-z0-9](?:[ !#-+\--:<-{}~]*[!#-+\--:<-{}~])?|\+[1-9][0-9]{6,14})$/;

/** Cells that a spreadsheet would run are neutralized; a missing cell is empty. */
export function formatCsvLine(cells: readonly (Cell | number)[]): string {
  let line = '';
  for (let index = 0; index < cells.length; index += 1) {
    line += index === 0 ? formatCell(cells[index]) : `,${formatCell(cells[index])}`;
  }
  return `${line}\n`;
}

function formatCell(cell: Cell | number): string {
  if (cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  if (PLAIN.test(cell)) return cell;
  const text = neutralizeCell(cell);
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
