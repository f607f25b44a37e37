import type { Rejection } from '../domain/row.js';
import type { RejectionCode } from '../domain/row-codes.js';

/**
 * The GSM 7-bit default alphabet and its extension table, 3GPP TS 23.038, 6.2.1 and 6.2.1.1.
 * A character of the extension table costs two septets: the escape and its code.
 */

const DEFAULT_ALPHABET =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const EXTENSION_TABLE = '\f^{}\\[~]|€';

/** Septets that a UTF-16 code unit costs in GSM-7: 1 or 2, and 0 where GSM-7 does not have it. */
const septetsByCodeUnit: Uint8Array = buildTable();

function buildTable(): Uint8Array {
  const table = new Uint8Array(65_536);
  for (const character of DEFAULT_ALPHABET) table[character.charCodeAt(0)] = 1;
  for (const character of EXTENSION_TABLE) table[character.charCodeAt(0)] = 2;
  return table;
}

/** What word processors put in place of what was typed → what GSM-7 has. */
const REPLACEMENTS: ReadonlyMap<string, string> = new Map([
  ...pairs("'", '\u2018\u2019\u201a\u201b\u2039\u203a\u2032\u02bc'),
  ...pairs('"', '\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033'),
  ...pairs('-', '\u2010\u2011\u2012\u2013\u2014\u2015\u2212'),
  ...pairs('...', '\u2026'),
  ...pairs(' ', '\u00a0\u2007\u2009\u202f'),
]);

/** The characters of the table. */
const REPLACED =
  /[\u00a0\u00ab\u00bb\u02bc\u2007\u2009\u2010-\u2015\u2018-\u201f\u2026\u202f\u2032\u2033\u2039\u203a\u2212]/g;

function pairs(replacement: string, characters: string): [string, string][] {
  return [...characters].map((character) => [character, replacement]);
}

/** Omits characters that `replaceTypography` replaces. */
export function omitReplaceable(characters: string): string {
  return characters.replace(REPLACED, '');
}

/**
 * The text with typographic quotes, dashes, ellipses and blanks as GSM-7 writes them, and which of them it had, each once. Undefined
 * where that is not enough for GSM-7, or not needed: the text is then left as it is.
 */
export function replaceTypography(text: string): { readonly text: string; readonly replaced: string } | undefined {
  const found = text.match(REPLACED);
  if (found === null) return undefined;
  const plain = text.replace(REPLACED, (character) => REPLACEMENTS.get(character) ?? character);
  for (let index = 0; index < plain.length; index += 1) {
    if (septetsByCodeUnit[plain.charCodeAt(index)] === 0) return undefined;
  }
  return { text: plain, replaced: [...new Set(found)].sort().join('') };
}

/**
 * How a text is cut into parts, 3GPP TS 23.040, 9.2.3.24: 140 octets, less 6 for the header once there is more than one part.
 * GSM-7: 160 septets, or 153 a part. UCS-2: 70 code units, or 67 a part.
 * An escape and its code, or the two halves of a surrogate pair, stay in one part; the unit before them is then left empty.
 */
const GSM7_SINGLE = 160;
const GSM7_PART = 153;
const UCS2_SINGLE = 70;
const UCS2_PART = 67;

export interface SegmentCount {
  readonly encoding: 'GSM7' | 'UCS2';
  /** Parts that the message is billed as; 0 for an empty text. */
  readonly segments: number;
  /** Septets (GSM-7, escapes included) or UTF-16 code units (UCS-2). */
  readonly units: number;
  /** Parts of a UCS-2 text beyond those that as many code units, as one septet each, would take in GSM-7; 0 for GSM-7. */
  readonly extraParts: number;
  /** The characters that GSM-7 does not have, as `listUcs2Characters` collects them; undefined where it has them all. */
  readonly ucs2Characters: string | undefined;
}

/**
 * Counts the parts of a text as the network bills them. `UCS2` asks for it even where GSM-7 would do; a character outside
 * GSM-7 is counted as UCS-2 even where `GSM7` is asked for (`checkText` refuses that text).
 */
export function countSegments(text: string, encoding: 'AUTO' | 'GSM7' | 'UCS2'): SegmentCount {
  const septets = countSeptets(text);
  if (septets === undefined) return countUcs2(text, listUcs2Characters(text));
  if (encoding === 'UCS2') return countUcs2(text, undefined);
  const segments = septets <= GSM7_SINGLE ? Math.min(septets, 1) : countGsm7Parts(text);
  return { encoding: 'GSM7', segments, units: septets, extraParts: 0, ucs2Characters: undefined };
}

/** Escapes included; undefined for a text that GSM-7 does not have. */
function countSeptets(text: string): number | undefined {
  let septets = 0;
  for (let index = 0; index < text.length; index++) {
    const width = septetsByCodeUnit[text.charCodeAt(index)] as number;
    if (width === 0) return undefined;
    septets += width;
  }
  return septets;
}

/** More than a person replaces one by one. */
const MOST_UCS2_UNITS = 16;

/** Characters that GSM-7 does not have: each once, in their order, and no more than people replace. */
function listUcs2Characters(text: string): string {
  let found = '';
  for (const character of text) {
    if (septetsByCodeUnit[character.charCodeAt(0)] !== 0 || found.includes(character)) continue;
    found += character;
    if (found.length >= MOST_UCS2_UNITS) break;
  }
  return found;
}

function countUcs2(text: string, ucs2Characters: string | undefined): SegmentCount {
  const units = text.length;
  const segments = units <= UCS2_SINGLE ? Math.min(units, 1) : countUcs2Parts(text);
  const inGsm7 = units <= GSM7_SINGLE ? Math.min(units, 1) : Math.ceil(units / GSM7_PART);
  return { encoding: 'UCS2', segments, units, extraParts: segments - inGsm7, ucs2Characters };
}

function countGsm7Parts(text: string): number {
  let parts = 1;
  let used = 0;
  for (let index = 0; index < text.length; index++) {
    const width = septetsByCodeUnit[text.charCodeAt(index)] as number;
    if (used + width > GSM7_PART) {
      parts++;
      used = 0;
    }
    used += width;
  }
  return parts;
}

function countUcs2Parts(text: string): number {
  let parts = 1;
  let used = 0;
  for (let index = 0; index < text.length; index++) {
    const width = (text.codePointAt(index) as number) > 0xffff ? 2 : 1;
    if (used + width > UCS2_PART) {
      parts++;
      used = 0;
    }
    used += width;
    index += width - 1;
  }
  return parts;
}

/** What word processors and chat programs put into texts without being asked. Names of the Unicode standard. */
const NAMES: Readonly<Record<number, string>> = {
  9: 'TAB',
  96: 'GRAVE ACCENT',
  160: 'NO-BREAK SPACE',
  8203: 'ZERO WIDTH SPACE',
  8205: 'ZERO WIDTH JOINER',
  8211: 'EN DASH',
  8212: 'EM DASH',
  8216: 'LEFT SINGLE QUOTATION MARK',
  8217: 'RIGHT SINGLE QUOTATION MARK',
  8220: 'LEFT DOUBLE QUOTATION MARK',
  8221: 'RIGHT DOUBLE QUOTATION MARK',
  8226: 'BULLET',
  8230: 'HORIZONTAL ELLIPSIS',
  65279: 'ZERO WIDTH NO-BREAK SPACE',
};
const INVISIBLE = /[\p{C}\p{Z}\p{M}]/u;

/** Names a character for people: itself where it can be seen, its code point, and its Unicode name where that helps. */
export function nameCharacter(codePoint: number): string {
  const code = `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
  const name = NAMES[codePoint];
  const label = name === undefined ? code : `${code} ${name}`;
  const character = String.fromCodePoint(codePoint);
  return INVISIBLE.test(character) ? label : `${character} (${label})`;
}

/** Names each character. */
export function nameCharacters(characters: string): string[] {
  return [...characters].map((character) => nameCharacter(character.codePointAt(0) ?? 0));
}

/** The service truncates or refuses longer texts: its public documentation, "SMS length". */
const MAX_SEGMENTS = 10;

const LONE_SURROGATE = /\p{Cs}/u;

type TextCheck =
  | { readonly ok: true; readonly count: SegmentCount }
  | { readonly ok: false; readonly rejection: Rejection };

/**
 * Refuses a rendered text that cannot be sent as it stands: `empty-text` (blank counts as empty), `lone-surrogate`,
 * `not-gsm7` (where the job asks for GSM7) and `text-too-long`; else gives its count. The reasons never quote the text.
 */
export function checkText(text: string, encoding: 'AUTO' | 'GSM7' | 'UCS2'): TextCheck {
  if (text.trim() === '') {
    return refuse('empty-text', 'Cannot send the message: its text is empty, expected at least one character');
  }
  const count = countSegments(text, encoding);
  const half = count.ucs2Characters === undefined ? null : LONE_SURROGATE.exec(text);
  if (half !== null) {
    const name = nameCharacter(half[0].charCodeAt(0));
    return refuse(
      'lone-surrogate',
      `Cannot send the message: its text contains ${name}, half of a character; export the file again as UTF-8`,
    );
  }
  if (encoding === 'GSM7' && count.ucs2Characters !== undefined) {
    return refuse(
      'not-gsm7',
      `Cannot send the message as GSM7: its text contains ${nameCharacters(count.ucs2Characters).join(', ')}, expected GSM-7 characters only; replace them, or set encoding: AUTO`,
    );
  }
  if (count.segments > MAX_SEGMENTS) {
    return refuse(
      'text-too-long',
      `Cannot send the message: ${describeLength(count)}, expected at most ${MAX_SEGMENTS} parts`,
    );
  }
  return { ok: true, count };
}

function describeLength(count: SegmentCount): string {
  const because =
    count.ucs2Characters === undefined ? '' : ` because of ${nameCharacters(count.ucs2Characters).join(', ')}`;
  const encoding = count.encoding === 'GSM7' ? 'GSM-7' : 'UCS-2';
  return `its text needs ${count.segments} parts in ${encoding}${because}`;
}

function refuse(code: RejectionCode, reason: string): TextCheck {
  return { ok: false, rejection: { stage: 'render', field: 'text', code, reason } };
}
