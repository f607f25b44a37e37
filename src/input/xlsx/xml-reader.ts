import { SaxesParser } from 'saxes';
import { type Archive, refuseDamaged } from './archive.js';

/** Names come without their prefix: producers choose it. */
export interface Tag {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly parent: Tag | undefined;
  /** Of a tag without tags in it all of its text, once it ends. */
  text: string;
}

/** What a spreadsheet program nests, and more. */
const MAX_DEPTH = 50;
/** Longest of the parts that have no rows and no texts. */
const MAX_SMALL_BYTES = 16 * 1024 * 1024;

export interface PartLimits {
  readonly shown: string;
  /** Most text between two tags, and longest tag. */
  readonly maxBytes: number;
  readonly maxPartBytes?: number;
}

/**
 * Reads one part of a workbook piece by piece, and yields behind each. Refuses what is not well-formed or not UTF-8, and a
 * document type, which no workbook has: so there is no entity to expand. Memory is bounded by `maxBytes`.
 */
export async function* readPart(
  archive: Archive,
  part: string,
  { shown, maxBytes, maxPartBytes = Number.POSITIVE_INFINITY }: PartLimits,
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
  /** Since the last tag ended. */
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
