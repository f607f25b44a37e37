import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { Cell } from '../domain/row.js';
import type { Files, WholeFile } from '../storage/files.js';

/**
 * An .xlsx file with one sheet, written row by row in flat memory. Cells are texts as they are (ECMA-376, inline strings): a spreadsheet
 * neither runs nor shortens them.
 */
export class WorkbookFile implements WholeFile {
  readonly #file: WholeFile;
  readonly #zip = new ZipFile();
  readonly #sheet = new PassThrough();
  /** Rejects with what the disk says. */
  readonly #packed: Promise<void>;

  static async create(files: Pick<Files, 'createWhole'>, path: string): Promise<WorkbookFile> {
    return new WorkbookFile(await files.createWhole(path));
  }

  private constructor(file: WholeFile) {
    this.#file = file;
    for (const [name, text] of Object.entries(SMALL_PARTS)) {
      this.#zip.addBuffer(Buffer.from(`${XML}${text}`), name, ANY_TIME);
    }
    this.#zip.addReadStream(this.#sheet, SHEET, ANY_TIME);
    this.#zip.end();
    this.#sheet.write(`${XML}<worksheet xmlns="${MAIN}"><sheetData>`);
    this.#packed = this.#pack();
    // What is written next gets it; it may come between two writes.
    this.#packed.catch(() => {});
  }

  async #pack(): Promise<void> {
    for await (const chunk of this.#zip.outputStream) await this.#file.write(chunk as Buffer);
  }

  /** Rows, as `formatSheetRow` writes them. */
  async write(chunk: string | Uint8Array): Promise<void> {
    // A copy: it is packed later, when the caller may have filled its bytes with other rows.
    const bytes = typeof chunk === 'string' ? chunk : Buffer.from(chunk);
    if (!this.#sheet.write(bytes)) await Promise.race([once(this.#sheet, 'drain'), this.#packed]);
  }

  async finish(): Promise<void> {
    this.#sheet.end('</sheetData></worksheet>');
    await this.#packed;
    await this.#file.finish();
  }

  async discard(): Promise<void> {
    this.#sheet.destroy();
    (this.#zip.outputStream as Readable).destroy();
    await this.#packed.catch(() => {});
    await this.#file.discard();
  }
}

/** The same rows give the same bytes. */
const ANY_TIME = { mtime: new Date(1980, 0, 1), forceDosTimestamp: true };

/** A row of a sheet: numbers as numbers, all else as texts. */
export function formatSheetRow(cells: readonly (Cell | number)[]): string {
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
