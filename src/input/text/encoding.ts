import { findEncodingName } from '../../job/schema/values.js';
import { refuse } from '../refusal.js';

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
