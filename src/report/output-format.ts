import { neutralizeCell } from '../domain/formula-cell.js';
import type { Cell } from '../domain/row.js';
import type { Files, WholeFile } from '../storage/files.js';
import { formatSheetRow, WorkbookFile } from './workbook-file.js';

/** As the job has them. */
export interface OutputForm {
  readonly format: 'csv' | 'ndjson' | 'xlsx';
  readonly csv?: { readonly delimiter: string; readonly bom: boolean } | undefined;
}

/**
 * Turns the rows of an output into lines: RFC 4180 with LF, by default with commas, one JSON object a line, or rows of a sheet. JSON has each key once, so
 * unnamed columns, which nothing can refer to, are omitted there.
 */
export interface LineFormat {
  readonly header: string;
  line(cells: readonly (Cell | number)[]): string;
}

export function createLineFormat({ format, csv }: OutputForm, columns: readonly string[]): LineFormat {
  if (format === 'csv') {
    const { delimiter = ',', bom = false } = csv ?? {};
    const line = (cells: readonly (Cell | number)[]) => formatCsvLine(cells, delimiter);
    return { header: `${bom ? BYTE_ORDER_MARK : ''}${line(columns)}`, line };
  }
  if (format === 'xlsx') return { header: formatSheetLine(columns), line: formatSheetLine };
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

/** The file of an output, under a temporary name until it is whole. */
export function createOutputFile(files: Files, path: string, { format }: OutputForm): Promise<WholeFile> {
  return format === 'xlsx' ? WorkbookFile.create(files, path) : files.createWhole(path);
}

/** With the cells of a CSV: a spreadsheet may save it as one. */
function formatSheetLine(cells: readonly (Cell | number)[]): string {
  return formatSheetRow(cells.map((cell) => (typeof cell === 'string' ? neutralizeCell(cell) : cell)));
}

/** By it Excel knows UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';

const NAMELESS = JSON.stringify('');
/** All of `,`, `;`, tab and `|`: for a reader that splits elsewhere, as long as it heeds quotes. */
const NEEDS_QUOTES = /[",;|\t\r\n]|^\s|\s$/;

/**
 * Most cells: a number in E.164, or ASCII that begins with a letter or a digit, does not end with a blank and has nothing to
 * be quoted for. One test instead of four.
 */
const PLAIN = /^(?:[A-Za-z0-9](?:[ !#-+\--:<-{}~]*[!#-+\--:<-{}~])?|\+[1-9][0-9]{6,14})$/;

/** Cells that a spreadsheet would run are neutralized; a missing cell is empty. */
export function formatCsvLine(cells: readonly (Cell | number)[], delimiter = ','): string {
  let line = '';
  for (let index = 0; index < cells.length; index += 1) {
    const cell = formatCell(cells[index], delimiter);
    line += index === 0 ? cell : `${delimiter}${cell}`;
  }
  return `${line}\n`;
}

function formatCell(cell: Cell | number, delimiter: string): string {
  if (cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  if (PLAIN.test(cell)) return cell;
  const text = neutralizeCell(cell, delimiter);
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
