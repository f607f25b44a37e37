import { crc32 } from 'node:zlib';

/** A day of a sheet is counted from here. */
const FIRST_DAY_MS = Date.UTC(1899, 11, 30);
const DAY_MS = 86_400_000;
/** Styles of cells: their order is their number. */
const FORMATS = ['General', '0.00', 'yyyy\\-mm\\-dd'];
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

/**
 * A workbook as a person has it who typed these rows into a sheet: texts are shared, amounts and days are numbers with a format.
 *
 * @param {string} sheet  its name
 * @param {readonly (readonly string[])[]} rows
 * @returns {Buffer}
 */
export function writeWorkbook(sheet, rows) {
  const texts = [...new Set(rows.flat().filter((cell) => cell !== '' && readNumber(cell) === undefined))];
  const lines = rows.map((cells, at) => {
    const written = cells.map((cell, column) => writeCell(cell, `${nameColumn(column)}${at + 1}`, texts));
    return `<row r="${at + 1}">${written.join('')}</row>`;
  });
  const formats = FORMATS.slice(1).map((code, at) => `<numFmt numFmtId="${164 + at}" formatCode="${code}"/>`);
  const styles = FORMATS.map((_, at) => `<xf numFmtId="${at === 0 ? 0 : 163 + at}"/>`);
  const shared = texts.map((text) => `<si><t xml:space="preserve">${escapeXml(text)}</t></si>`);
  return writeZip({
    '[Content_Types].xml': `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${[
      ['workbook', 'sheet.main'],
      ['worksheets/sheet1', 'worksheet'],
      ['styles', 'styles'],
      ['sharedStrings', 'sharedStrings'],
    ]
      .map(
        ([part, type]) =>
          `<Override PartName="/xl/${part}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${type}+xml"/>`,
      )
      .join('')}</Types>`,
    '_rels/.rels': writeRelations([['officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': `${XML}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets><sheet name="${escapeXml(sheet)}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': writeRelations([
      ['worksheet', 'worksheets/sheet1.xml'],
      ['styles', 'styles.xml'],
      ['sharedStrings', 'sharedStrings.xml'],
    ]),
    'xl/worksheets/sheet1.xml': `${XML}<worksheet xmlns="${MAIN}"><sheetData>${lines.join('')}</sheetData></worksheet>`,
    'xl/styles.xml': `${XML}<styleSheet xmlns="${MAIN}"><numFmts count="${formats.length}">${formats.join('')}</numFmts><fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="${styles.length}">${styles.join('')}</cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `${XML}<sst xmlns="${MAIN}" uniqueCount="${texts.length}">${shared.join('')}</sst>`,
  });
}

/** What a person types as a number: an amount or a day, but no phone number. Undefined for a text. */
function readNumber(cell) {
  if (/^\d{4}-\d\d-\d\d$/.test(cell)) return { value: (Date.parse(cell) - FIRST_DAY_MS) / DAY_MS, style: 2 };
  if (/^\d+\.\d\d$/.test(cell)) return { value: Number(cell), style: 1 };
  return /^[1-9]\d*$/.test(cell) ? { value: Number(cell), style: 0 } : undefined;
}

function writeCell(cell, name, texts) {
  if (cell === '') return '';
  const number = readNumber(cell);
  if (number === undefined) return `<c r="${name}" t="s"><v>${texts.indexOf(cell)}</v></c>`;
  return `<c r="${name}" s="${number.style}"><v>${number.value}</v></c>`;
}

function nameColumn(column) {
  return String.fromCharCode(65 + column);
}

function writeRelations(targets) {
  const written = targets.map(
    ([type, target], at) => `<Relationship Id="rId${at + 1}" Type="${RELATIONS}/${type}" Target="${target}"/>`,
  );
  return `${XML}<Relationships xmlns="${PACKAGE}/relationships">${written.join('')}</Relationships>`;
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** Stored and without times, so that the bytes are the same wherever they are made. */
function writeZip(parts) {
  const written = [];
  const directory = [];
  let offset = 0;
  for (const [path, text] of Object.entries(parts)) {
    const name = Buffer.from(path);
    const bytes = Buffer.from(text);
    const entry = Buffer.alloc(26);
    entry.writeUInt16LE(20, 0);
    entry.writeUInt16LE(0x21, 8);
    entry.writeUInt32LE(crc32(bytes), 10);
    entry.writeUInt32LE(bytes.length, 14);
    entry.writeUInt32LE(bytes.length, 18);
    entry.writeUInt16LE(name.length, 22);
    written.push(Buffer.from('PK\u0003\u0004'), entry, name, bytes);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\u0001\u0002\u0014\u0000'), entry, rest, name);
    offset += 30 + name.length + bytes.length;
  }
  const end = Buffer.alloc(18);
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  end.writeUInt16LE(Object.keys(parts).length, 4);
  end.writeUInt16LE(Object.keys(parts).length, 6);
  end.writeUInt32LE(size, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...written, ...directory, Buffer.from('PK\u0005\u0006'), end]);
}
