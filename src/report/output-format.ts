import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import { neutralizeCell } from '../domain/formula-cell.js';
import type { Cell } from '../domain/row.js';
import type { Files, WholeFile } from '../storage/files.js';

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
  return format === 'xlsx' ? createWorkbook(files, path) : files.createWhole(path);
}

/** With the cells of a CSV: a spreadsheet may save it as one. */
function formatSheetLine(cells: readonly (Cell | number)[]): string {
  return formatSheetRow(cells.map((cell) => (typeof cell === 'string' ? neutralizeCell(cell) : cell)));
}

/** The mark by which Excel knows UTF-8. */
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
  let line = formatCell(cells[0], delimiter);
  for (let index = 1; index < cells.length; index += 1) line += `${delimiter}${formatCell(cells[index], delimiter)}`;
  return `${line}\n`;
}

function formatCell(cell: Cell | number, delimiter: string): string {
  if (cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  if (PLAIN.test(cell)) return cell;
  const text = neutralizeCell(cell, delimiter);
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * An .xlsx file with one sheet, written row by row in flat memory. Cells are texts as they are (ECMA-376, inline strings): a spreadsheet
 * neither runs nor shortens them.
 */
async function createWorkbook(files: Pick<Files, 'createWhole'>, path: string): Promise<WholeFile> {
  const file = await files.createWhole(path);
  const zip = new ZipFile();
  const sheet = new PassThrough();
  for (const [name, text] of Object.entries(SMALL_PARTS)) {
    zip.addBuffer(Buffer.from(`${XML}${text}`), name, ANY_TIME);
  }
  zip.addReadStream(sheet, SHEET, ANY_TIME);
  zip.end();
  sheet.write(`${XML}<worksheet xmlns="${MAIN}"><sheetData>`);
  const pack = async () => {
    for await (const chunk of zip.outputStream) await file.write(chunk as Buffer);
  };
  /** Rejects with what the disk says. */
  const packed = pack();
  // What is written next gets it; it may come between two writes.
  packed.catch(() => {});
  return {
    /** Rows, as `formatSheetRow` writes them. */
    write: async (chunk) => {
      // A copy: it is packed later, when the caller may have filled its bytes with other rows.
      const bytes = typeof chunk === 'string' ? chunk : Buffer.from(chunk);
      if (!sheet.write(bytes)) await Promise.race([once(sheet, 'drain'), packed]);
    },
    finish: async () => {
      sheet.end('</sheetData></worksheet>');
      await packed;
      await file.finish();
    },
    discard: async () => {
      sheet.destroy();
      (zip.outputStream as Readable).destroy();
      await packed.catch(() => {});
      await file.discard();
    },
  };
}

/** Any fixed time does: the same rows give the same bytes. */
const ANY_TIME = { mtime: new Date(1980, 0, 1), forceDosTimestamp: true };

/** A row of a sheet: numbers as numbers, all else as texts. */
function formatSheetRow(cells: readonly (Cell | number)[]): string {
  let row = '<row>';
  for (const cell of cells) {
    if (cell === undefined || cell === '') row += '<c/>';
    else if (typeof cell === 'number') row += `<c><v>${cell}</v></c>`;
    else row += `<c t="inlineStr"><is><t xml:space="preserve">${escapeXml(cell)}</t></is></c>`;
  }
  return `${row}</row>`;
}

/** What XML cannot hold, or would change, and an underscore before what looks like the code of such. */
const ESCAPED = /(?![\t\n])[\p{Cc}\ufffe\uffff]|_(?=x[0-9a-f]{4}_)/giu;
const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function escapeXml(text: string): string {
  return text
    .replace(ESCAPED, (unit) => `_x${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`)
    .replace(/[&<>]/g, (mark) => MARKUP[mark] ?? mark);
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
const SHEET = 'xl/worksheets/sheet1.xml';

const SMALL_PARTS: Readonly<Record<string, string>> = {
  '[Content_Types].xml': `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/><Override PartName="/${SHEET}" ContentType="${TYPE}.worksheet+xml"/></Types>`,
  '_rels/.rels': `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="rows" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
};
