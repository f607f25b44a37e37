import { SaxesParser } from 'saxes';
import { refuse } from '../record-reader.js';
import { type Archive, refuseDamaged } from './archive.js';

/** Names come without their prefix: producers choose it. */
export interface Tag {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly parent: Tag | undefined;
  /** All the text of a tag that has no tags in it, once it ends. */
  text: string;
}

/** What a spreadsheet program nests, and more. */
const MAX_DEPTH = 50;
/** Longest of the parts that have no rows and no texts. */
const MAX_SMALL_BYTES = 16 * 1024 * 1024;

/**
 * Reads one part of a workbook piece by piece, and yields behind each. Refuses what is not well-formed or not UTF-8, and a
 * document type, which no workbook has: so there is no entity to expand. Memory is bounded by `maxBytes`, the most text between two
 * tags, and the longest tag.
 */
export async function* readPart(
  archive: Archive,
  part: string,
  { shown, maxBytes, maxPartBytes = Infinity }: { shown: string; maxBytes: number; maxPartBytes?: number },
  onTag: (tag: Tag, isEnd: boolean) => void,
): AsyncGenerator<void> {
  const refuse = (reason: string) => refuseDamaged(shown, `${part}: ${reason}`);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (piece?: Buffer) => {
    try {
      return piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true });
    } catch {
      throw refuse('it is not UTF-8');
    }
  };
  const parser = new SaxesParser({ xmlns: false, position: false });
  let tag: Tag | undefined;
  let depth = 0;
  let bytes = 0;
  /** Bytes since the last tag ended. */
  let openBytes = 0;
  parser.on('error', (error) => {
    throw refuse(error.message);
  });
  parser.on('doctype', () => {
    throw refuse('it has a document type');
  });
  parser.on('xmldecl', ({ encoding }) => {
    if (encoding !== undefined && !/^utf-?8$/i.test(encoding)) throw refuse(`it is ${encoding}, not UTF-8`);
  });
  parser.on('opentag', ({ name, attributes }) => {
    depth += 1;
    if (depth > MAX_DEPTH) throw refuse('its tags are nested too deeply');
    if (tag !== undefined) tag.text = '';
    tag = { name: name.slice(name.indexOf(':') + 1), attributes, parent: tag, text: '' };
    onTag(tag, false);
  });
  const addText = (text: string) => {
    if (tag !== undefined) tag.text += text;
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    depth -= 1;
    openBytes = -1;
    if (tag !== undefined) onTag(tag, true);
    tag = tag?.parent;
  });
  for await (const piece of archive.read(part)) {
    bytes += piece.length;
    if (bytes > maxPartBytes) throw refuseDamaged(shown, `its part ${part} is too long`);
    parser.write(decode(piece));
    openBytes = openBytes === -1 ? 0 : openBytes + piece.length;
    if (openBytes > maxBytes) throw refuse(`a text or a tag in it is longer than ${maxBytes} bytes`);
    yield;
  }
  parser.write(decode());
  parser.close();
}

/** Reads the tags of a part that has no rows: it is short. */
export async function readSmallPart(
  archive: Archive,
  part: string,
  shown: string,
  onOpen: (tag: Tag) => void,
): Promise<void> {
  const limits = { shown, maxBytes: MAX_SMALL_BYTES, maxPartBytes: MAX_SMALL_BYTES };
  for await (const _piece of readPart(archive, part, limits, (tag, isEnd) => isEnd || onOpen(tag)));
}

/** Texts of cells, each stored once: the only part of a workbook that is held in memory as a whole. */
export type SharedTexts = readonly string[];

/** Enough for some four million names and addresses. */
const MAX_BYTES = 256 * 1024 * 1024;
/** What a text takes beside its characters. */
const TEXT_BYTES = 32;

/** Refuses texts beyond a fixed sum: they would fill the memory. */
export async function readSharedTexts(
  archive: Archive,
  part: string | undefined,
  limits: { shown: string; maxBytes: number },
): Promise<SharedTexts> {
  if (part === undefined || !archive.has(part)) return [];
  const texts: string[] = [];
  let text = '';
  let bytes = 0;
  const onTag = (tag: Tag, isEnd: boolean) => {
    if (!isEnd) return;
    if (isRun(tag)) text += tag.text;
    if (tag.name !== 'si') return;
    texts.push(decodeEscapes(text));
    bytes += TEXT_BYTES + Buffer.byteLength(text);
    if (bytes > MAX_BYTES) throw refuseMany(limits.shown);
    text = '';
  };
  for await (const _piece of readPart(archive, part, limits, onTag));
  return texts;
}

/** Whether a tag holds text of the string around it, which is that of its runs, without the readings of Japanese words. */
export function isRun({ name, parent }: Tag): boolean {
  return name === 't' && parent?.name !== 'rPh';
}

const ESCAPE = /_x([0-9a-f]{4})_/gi;

/** What XML cannot hold, or would change, is written as `_x000D_`; and `_x005F_` is an underscore before such. */
export function decodeEscapes(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(ESCAPE, (whole, code: string) =>
    code === '0000' ? whole : String.fromCharCode(parseInt(code, 16)),
  );
}

function refuseMany(shown: string) {
  return refuse({
    where: shown,
    message: `its texts take more than ${MAX_BYTES} bytes of memory, expected at most that many`,
    hint: 'Save the sheet as CSV, which has no such limit, or split the workbook.',
  });
}
