import { isUtf8 } from 'node:buffer';
import { findEncodingName } from '../../job/schema/values.js';
import { refuse } from '../record-reader.js';
import { type ByteSource, readContent, takeHead } from './byte-source.js';

/** How the bytes of a file become text. */
export interface Encoding {
  /** Canonical WHATWG name, lower case. */
  readonly name: string;
  /** Length of the byte order mark, which is no part of the text. */
  readonly markBytes: number;
  /** A sentence on what decided it, where it was not the default. */
  readonly notice: string | undefined;
}

const MARKS = [
  { name: 'utf-32', bytes: [0xff, 0xfe, 0x00, 0x00] },
  { name: 'utf-32', bytes: [0x00, 0x00, 0xfe, 0xff] },
  { name: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { name: 'utf-16le', bytes: [0xff, 0xfe] },
  { name: 'utf-16be', bytes: [0xfe, 0xff] },
];

const SOME = 'utf-8, utf-16le, utf-16be, windows-1252, iso-8859-15, shift_jis, gbk, gb18030, big5, euc-kr, koi8-u';

/**
 * The encoding by the mark in the first four bytes, else the stated one, else UTF-8: never a guess.
 * Refuses a label that is unknown, and one that the mark contradicts.
 */
export function chooseEncoding(head: Buffer, stated: string | undefined, shown: string): Encoding {
  const mark = MARKS.find(({ bytes }) => head.subarray(0, bytes.length).equals(Buffer.from(bytes)));
  const wanted = stated === undefined ? undefined : canonicalName(stated, shown);
  if (mark === undefined) {
    const notice = wanted === undefined ? undefined : `the encoding is ${wanted}, as stated`;
    return { name: wanted ?? 'utf-8', markBytes: 0, notice };
  }
  if (mark.name === 'utf-32') {
    throw refuse({
      where: shown,
      message: 'it is UTF-32 by its byte order mark, expected another encoding',
      hint: 'Save it as UTF-8.',
    });
  }
  // To people `utf-16` means either byte order; WHATWG reads it as little-endian.
  const isEitherOrder = stated?.trim().toLowerCase() === 'utf-16' && mark.name.startsWith('utf-16');
  if (wanted !== undefined && wanted !== mark.name && !isEitherOrder) {
    throw refuse({
      where: shown,
      message: `the encoding is stated as ${wanted}, but its byte order mark says ${mark.name}; expected them to agree`,
      hint: 'Remove the encoding from the job: the byte order mark states it.',
    });
  }
  return {
    name: mark.name,
    markBytes: mark.bytes.length,
    notice: `the encoding is ${mark.name}, by its byte order mark`,
  };
}

function canonicalName(stated: string, shown: string): string {
  const name = findEncodingName(stated);
  if (name !== undefined) return name;
  throw refuse({
    where: shown,
    message: `the encoding ${JSON.stringify(stated)} is not known, expected a label such as ${SOME}`,
    hint: 'Fix `encoding` where the job names the file.',
  });
}

/** Turns bytes into UTF-8, piece by piece. Undefined: these bytes are no text in the encoding. */
interface Decoder {
  decode(piece: Buffer): Buffer | undefined;
  /** What is left at the end; undefined when a character is cut off. */
  finish(): Buffer | undefined;
}

const NOTHING = Buffer.alloc(0);

/** A strict decoder: it replaces and omits nothing. A NUL is an error in every encoding. */
export async function createDecoder({ name }: Encoding): Promise<Decoder> {
  if (name === 'utf-8') return createUtf8Decoder();
  if (name.startsWith('utf-16')) return createTextDecoder(TextDecoder, name, NO_UTF16_TEXT);
  // Node's own decoders show private-use characters, or others, for thousands of bytes of the older encodings.
  const library = await import('@exodus/bytes/encoding.js');
  return createTextDecoder(library.TextDecoder, name, NO_LEGACY_TEXT);
}

export function createUtf8Decoder(): Decoder {
  let carry = NOTHING;
  return {
    decode: (piece) => {
      const bytes = carry.length === 0 ? piece : Buffer.concat([carry, piece]);
      const whole = bytes.subarray(0, bytes.length - countCutOff(bytes));
      if (whole.includes(0) || !isUtf8(whole)) return undefined;
      carry = Buffer.from(bytes.subarray(whole.length));
      return whole;
    },
    finish: () => (carry.length === 0 ? NOTHING : undefined),
  };
}

/** Bytes at the end that begin a UTF-8 character which the next piece may complete: 0 to 3. */
function countCutOff(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    const isContinuation = byte >= 0x80 && byte < 0xc0;
    if (!isContinuation) return lengthByLead(byte) > back ? back : 0;
  }
  return 0;
}

/** Bytes of the character that a byte begins; 1 for one that begins none. */
function lengthByLead(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 1;
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}

const NO_UTF16_TEXT = /\0/;
/** What legacy encodings map meaningless bytes to: controls, or private-use characters of font vendors. */
const NO_LEGACY_TEXT = /[\0\u0080-\u009f\ue000-\uf8ff]/;

function createTextDecoder(Library: typeof TextDecoder, name: string, noText: RegExp): Decoder {
  const decoder = new Library(name, { fatal: true, ignoreBOM: true });
  const decode = (piece: Buffer, stream: boolean) => {
    let text: string;
    try {
      text = decoder.decode(piece, { stream });
    } catch {
      return undefined;
    }
    return noText.test(text) ? undefined : Buffer.from(text);
  };
  return { decode: (piece) => decode(piece, true), finish: () => decode(NOTHING, false) };
}

/** Enough for thousands of rows. */
const HEAD_BYTES = 1024 * 1024;
/**
 * What the languages of western Europe write beyond ASCII, and currency and quotes of their office programs. Not some rarer
 * letters, whose bytes are common ones of Czech or Polish in windows-1250; nor an ø with accents, which is a Czech ř.
 */
const WESTERN = /^[äöüÄÖÜßàâáãåæçèéêëíîñóôõøúûÀÂÁÃÅÆÇÉÊËÍÎÑÓÔÕØÚÛ€§°´’‘“”„–…·ºª«»¡]$/;
/** An ø and an accent in one word, or in a text that is not a German or Swedish one with a Søren and a María among its names. */
function isCzech(text: string): boolean {
  if (!/[øØ]/.test(text) || !/[áíèýú]/.test(text)) return false;
  const doubtful = text.match(/[øØáíèýúìùò]/g)?.length ?? 0;
  const umlauts = text.match(/[äöüÄÖÜß]/g)?.length ?? 0;
  if (umlauts < doubtful) return true;
  return text.match(/\p{L}+/gu)?.some((word) => /[øØ]/.test(word) && /[áíèýú]/.test(word)) === true;
}

/**
 * Windows-1252 for a file that can be nothing else but a spreadsheet's in a language of western Europe; undefined for
 * UTF-8, for a file with a byte order mark, and where it is unclear. To be written into a job, where a person sees it: no
 * reader guesses. In encodings with two bytes a character, and in Cyrillic ones, the bytes beyond ASCII stand in a row.
 */
export async function guessEncoding(source: ByteSource): Promise<'windows-1252' | undefined> {
  const content = readContent(source);
  const head = (await takeHead(content, ({ length }) => length >= HEAD_BYTES)).subarray(0, HEAD_BYTES);
  await content.return(undefined);
  const { name, markBytes } = chooseEncoding(head.subarray(0, 4), undefined, source.shown);
  if (markBytes > 0 || name !== 'utf-8' || createUtf8Decoder().decode(head) !== undefined) return undefined;
  const decoder = await createDecoder({ name: 'windows-1252', markBytes: 0, notice: undefined });
  const text = decoder.decode(head)?.toString('utf8');
  if (text === undefined) return undefined;
  const beyond = text.match(/[^\0-\x7f]/g) ?? [];
  const isWestern = beyond.every((character) => WESTERN.test(character)) && !isCzech(text);
  const alone = text.match(/(?<![^\0-\x7f])[^\0-\x7f](?![^\0-\x7f])/g) ?? [];
  return isWestern && alone.length >= 0.9 * beyond.length ? 'windows-1252' : undefined;
}
