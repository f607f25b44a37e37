import { crc32, deflateRawSync } from 'node:zlib';

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';

export interface SheetParts {
  readonly name?: string;
  readonly state?: 'hidden' | 'veryHidden';
  /** Behind `<worksheet>` and before `<sheetData>`. */
  readonly before?: string;
  /** XML of the rows. */
  readonly rows: string;
  readonly behind?: string;
}

export interface WorkbookParts {
  readonly sheets?: readonly SheetParts[];
  /** Rows of the only sheet. */
  readonly rows?: string;
  /** XML within each `<si>`. */
  readonly shared?: readonly string[];
  /** Number formats; the first has style 1. */
  readonly formats?: readonly string[];
  readonly is1904?: boolean;
  /** Parts in place of those that are made here; undefined takes one away. */
  readonly parts?: Readonly<Record<string, string | Buffer | undefined>>;
}

/** The bytes of an .xlsx file, written part by part, so that a test can say each. */
export function aWorkbook({ rows = '', shared = [], formats = [], is1904 = false, ...given }: WorkbookParts): Buffer {
  const sheets = given.sheets ?? [{ rows }];
  const tags = sheets.map(({ name = `Sheet${sheets.length}`, state }, at) => {
    return `<sheet name="${escapeXml(name)}" sheetId="${at + 1}"${state === undefined ? '' : ` state="${state}"`} r:id="rId${at + 1}"/>`;
  });
  const targets = sheets.map((_, at) => ['worksheet', `worksheets/sheet${at + 1}.xml`] as const);
  const parts: Record<string, string | Buffer | undefined> = {
    '_rels/.rels': relations([['officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}">${is1904 ? '<workbookPr date1904="1"/>' : ''}<sheets>${tags.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations([
      ...targets,
      ['styles', 'styles.xml'],
      ['sharedStrings', '/xl/sharedStrings.xml'],
    ]),
    'xl/styles.xml': `<styleSheet xmlns="${MAIN}"><numFmts>${formats.map((code, at) => `<numFmt numFmtId="${200 + at}" formatCode="${escapeXml(code)}"/>`).join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${formats.map((_, at) => `<xf numFmtId="${200 + at}"/>`).join('')}<xf numFmtId="14"/></cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst xmlns="${MAIN}">${shared.map((text) => `<si>${text}</si>`).join('')}</sst>`,
  };
  for (const [at, sheet] of sheets.entries()) parts[`xl/worksheets/sheet${at + 1}.xml`] = aSheet(sheet);
  return aZip({ ...parts, ...given.parts });
}

export function aSheet({ before = '', rows, behind = '' }: SheetParts): string {
  return `<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="${MAIN}">${before}<sheetData>${rows}</sheetData>${behind}</worksheet>`;
}

/** Rows of texts, as XML; a number is stored as one. */
export function rowsOf(...rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((cells) => `<row>${cells.map(aCell).join('')}</row>`).join('');
}

function aCell(cell: string | number): string {
  if (typeof cell === 'number') return `<c><v>${cell}</v></c>`;
  return `<c t="inlineStr"><is><t>${escapeXml(cell)}</t></is></c>`;
}

function relations(targets: readonly (readonly [type: string, target: string])[]): string {
  const written = targets.map(
    ([type, target], at) => `<Relationship Id="rId${at + 1}" Type="${RELATIONS}/${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="${PACKAGE}">${written.join('')}</Relationships>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** Packed as spreadsheet programs do. */
export function aZip(parts: Readonly<Record<string, string | Buffer | undefined>>): Buffer {
  const written: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, content] of Object.entries(parts)) {
    if (content === undefined) continue;
    const name = Buffer.from(path);
    const bytes = Buffer.from(content as string);
    const packed = deflateRawSync(bytes, { level: 1 });
    const entry = Buffer.alloc(26);
    entry.writeUInt16LE(20, 0);
    entry.writeUInt16LE(8, 4);
    entry.writeUInt32LE(crc32(bytes), 10);
    entry.writeUInt32LE(packed.length, 14);
    entry.writeUInt32LE(bytes.length, 18);
    entry.writeUInt16LE(name.length, 22);
    written.push(Buffer.from('PK\u0003\u0004'), entry, name, packed);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\u0001\u0002\u0014\u0000'), entry, rest, name);
    offset += 30 + name.length + packed.length;
  }
  const end = Buffer.alloc(18);
  const names = directory.length / 4;
  end.writeUInt16LE(names, 4);
  end.writeUInt16LE(names, 6);
  end.writeUInt32LE(Buffer.concat(directory).length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...written, ...directory, Buffer.from('PK\u0005\u0006'), end]);
}
