import { crc32, createDeflateRaw, type DeflateRaw } from 'node:zlib';
import { InternalError } from '../domain/errors.js';
import type { Cell } from '../domain/row.js';
import type { Files, WholeFile } from '../storage/files.js';

/**
 * An .xlsx file with one sheet, written row by row in flat memory. A ZIP of parts that are deflated (PKWARE APPNOTE 4.3); the sheet comes
 * last, and what its head cannot know yet stands behind it. Cells are texts as they are (ECMA-376, inline strings): a spreadsheet neither
 * runs nor shortens them.
 */
export class WorkbookFile implements WholeFile {
  readonly #file: WholeFile;
  readonly #parts: Part[] = [];
  #offset = 0;
  #open: OpenPart | undefined;

  static async create(files: Pick<Files, 'createWhole'>, path: string): Promise<WorkbookFile> {
    const workbook = new WorkbookFile(await files.createWhole(path));
    try {
      for (const [name, text] of Object.entries(SMALL_PARTS)) {
        workbook.#open = await workbook.#begin(name);
        await workbook.write(`${XML}${text}`);
        await workbook.#end();
      }
      workbook.#open = await workbook.#begin(SHEET);
      await workbook.write(`${XML}<worksheet xmlns="${MAIN}"><sheetData>`);
    } catch (error) {
      await workbook.discard();
      throw error;
    }
    return workbook;
  }

  private constructor(file: WholeFile) {
    this.#file = file;
  }

  /** Rows, as `formatSheetRow` writes them. */
  async write(chunk: string | Uint8Array): Promise<void> {
    const open = this.#open;
    if (open === undefined) throw new InternalError('write-failed', 'Cannot write a workbook: its sheet has ended');
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    open.crc = crc32(bytes, open.crc);
    open.bytes += bytes.length;
    await new Promise<void>((resolve, reject) => {
      open.deflate.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
    await this.#flush(open);
  }

  async finish(): Promise<void> {
    await this.write('</sheetData></worksheet>');
    await this.#end();
    const start = this.#offset;
    for (const part of this.#parts) await this.#put(Buffer.concat([record(CENTRAL, part), Buffer.from(part.name)]));
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50, 0);
    end.writeUInt16LE(this.#parts.length, 8);
    end.writeUInt16LE(this.#parts.length, 10);
    end.writeUInt32LE(this.#offset - start, 12);
    end.writeUInt32LE(start, 16);
    await this.#put(end);
    await this.#file.finish();
  }

  async discard(): Promise<void> {
    this.#open?.deflate.destroy();
    await this.#file.discard();
  }

  async #begin(name: string): Promise<OpenPart> {
    const open: OpenPart = {
      name,
      offset: this.#offset,
      crc: 0,
      bytes: 0,
      packed: 0,
      deflate: createDeflateRaw(),
      chunks: [],
    };
    // The writer gets the error; without a listener it would end the process.
    open.deflate.on('data', (chunk: Buffer) => open.chunks.push(chunk)).on('error', () => {});
    await this.#put(Buffer.concat([record(LOCAL, open), Buffer.from(name)]));
    return open;
  }

  async #end(): Promise<void> {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    await new Promise<void>((resolve, reject) => {
      open.deflate.once('end', resolve).once('error', reject);
      open.deflate.end();
    });
    await this.#flush(open);
    if (open.bytes > MOST_BYTES)
      throw new InternalError('write-failed', 'Cannot write a workbook: its sheet is above 4 GiB');
    const behind = Buffer.alloc(16);
    behind.writeUInt32LE(0x08074b50, 0);
    behind.writeUInt32LE(open.crc, 4);
    behind.writeUInt32LE(open.packed, 8);
    behind.writeUInt32LE(open.bytes, 12);
    await this.#put(behind);
    this.#parts.push(open);
  }

  async #flush(open: OpenPart): Promise<void> {
    const packed = Buffer.concat(open.chunks);
    open.chunks = [];
    open.packed += packed.length;
    if (packed.length > 0) await this.#put(packed);
  }

  async #put(bytes: Buffer): Promise<void> {
    await this.#file.write(bytes);
    this.#offset += bytes.length;
  }
}

interface Part {
  readonly name: string;
  readonly offset: number;
  crc: number;
  bytes: number;
  packed: number;
}

interface OpenPart extends Part {
  readonly deflate: DeflateRaw;
  chunks: Buffer[];
}

const MOST_BYTES = 0xffffffff;
const [LOCAL, CENTRAL] = ['local', 'central'] as const;

/** The head of a part, or its record in the directory at the end; the former says that sizes follow the part. */
function record(kind: typeof LOCAL | typeof CENTRAL, { name, offset, crc, bytes, packed }: Part): Buffer {
  const isCentral = kind === CENTRAL;
  const head = Buffer.alloc(isCentral ? 46 : 30);
  head.writeUInt32LE(isCentral ? 0x02014b50 : 0x04034b50, 0);
  const at = isCentral ? 6 : 4;
  if (isCentral) head.writeUInt16LE(20, 4);
  head.writeUInt16LE(20, at);
  head.writeUInt16LE(0x0808, at + 2);
  head.writeUInt16LE(8, at + 4);
  // 1 January 1980: the same rows give the same bytes.
  head.writeUInt16LE(0x21, at + 8);
  if (isCentral) {
    head.writeUInt32LE(crc, at + 10);
    head.writeUInt32LE(packed, at + 14);
    head.writeUInt32LE(bytes, at + 18);
    head.writeUInt32LE(offset, 42);
  }
  head.writeUInt16LE(Buffer.byteLength(name), at + 22);
  return head;
}

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
