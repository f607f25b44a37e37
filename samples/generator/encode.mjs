import { gzipSync } from 'node:zlib';

/** Windows-1252 where it differs from Latin-1: the characters that the samples use. */
const WINDOWS_1252 = { '€': 0x80, '„': 0x84, '–': 0x96, '’': 0x92, '“': 0x93, '”': 0x94 };

/**
 * One line of CSV without its end. A cell is quoted when it must be, or always.
 *
 * @param {readonly string[]} cells
 * @param {{ delimiter: string, quoteAll: boolean }} style
 */
export function writeCsvLine(cells, { delimiter, quoteAll }) {
  return cells.map((cell) => (quoteAll || mustBeQuoted(cell, delimiter) ? quote(cell) : cell)).join(delimiter);
}

/** How many lines further an editor stands after this text. */
export function countLineEnds(text) {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}

/**
 * The bytes of a file; refuses a character that the encoding does not have.
 *
 * @param {string} text
 * @param {'utf-8' | 'utf-8-bom' | 'utf-16le-bom' | 'windows-1252'} encoding
 */
export function encodeText(text, encoding) {
  if (encoding === 'utf-16le-bom') return Buffer.from(`\uFEFF${text}`, 'utf16le');
  if (encoding === 'windows-1252') return Buffer.from([...text].map(encodeWindows1252));
  return Buffer.from(encoding === 'utf-8-bom' ? `\uFEFF${text}` : text, 'utf8');
}

/** Without a time stamp; the bytes may still differ from one zlib to another. */
export function compress(bytes) {
  return gzipSync(bytes, { level: 9 });
}

function encodeWindows1252(character) {
  const byte = WINDOWS_1252[character] ?? character.codePointAt(0);
  if (byte > 0xff) throw new Error(`Cannot write ${character} in windows-1252: it is not among its characters`);
  return byte;
}

function mustBeQuoted(cell, delimiter) {
  return cell.includes(delimiter) || /["\r\n]/.test(cell);
}

function quote(cell) {
  return `"${cell.replaceAll('"', '""')}"`;
}
