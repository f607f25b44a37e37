import type { Rejection } from '../domain/row.js';
import type { RejectionCode } from '../domain/row-codes.js';

/**
 * How a text is billed. The network cuts it into parts of 140 octets, less 6 for the header once there is more than one part
 * (3GPP TS 23.040, 9.2.3.24). GSM-7: 160 septets, or 153 a part. UCS-2: 70 code units, or 67 a part.
 */
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

type Encoding = 'AUTO' | SegmentCount['encoding'];

/** The service truncates or refuses longer texts: its public documentation, "SMS length". */
const MAX_SEGMENTS = 10;
const LONE_SURROGATE = /\p{Cs}/u;

/**
 * Counts a rendered text, or refuses one that cannot be sent as it stands: `empty-text` (blank counts as empty), `lone-surrogate`,
 * `not-gsm7` (where the job asks for GSM7) and `text-too-long`. The reasons never quote the text.
 */
export function checkText(text: string, encoding: Encoding): SegmentCount | Rejection {
  if (text.trim() === '') return refuse('empty-text', ': its text is empty, expected at least one character');
  const count = countSegments(text, encoding);
  const { segments, ucs2Characters } = count;
  const half = ucs2Characters === undefined ? null : LONE_SURROGATE.exec(text);
  if (half !== null) {
    const name = nameCharacter(half[0].charCodeAt(0));
    return refuse('lone-surrogate', `: its text contains ${name}, half of a character; export the file again as UTF-8`);
  }
  const isRefused = encoding === 'GSM7' && ucs2Characters !== undefined;
  if (!isRefused && segments <= MAX_SEGMENTS) return count;
  const named = nameCharacters(ucs2Characters ?? '').join(', ');
  if (isRefused) {
    const instead = 'expected GSM-7 characters only; replace them, or set encoding: AUTO';
    return refuse('not-gsm7', ` as GSM7: its text contains ${named}, ${instead}`);
  }
  const because = named === '' ? '' : ` because of ${named}`;
  const needs = `${segments} parts in ${count.encoding === 'GSM7' ? 'GSM-7' : 'UCS-2'}${because}`;
  return refuse('text-too-long', `: its text needs ${needs}, expected at most ${MAX_SEGMENTS} parts`);
}

function refuse(code: RejectionCode, so: string): Rejection {
  return { stage: 'render', field: 'text', code, reason: `Cannot send the message${so}` };
}

const GSM7_SINGLE = 160;
const GSM7_PART = 153;
const UCS2_SINGLE = 70;
const UCS2_PART = 67;

/**
 * Counts the parts of a text as the network bills them. `UCS2` asks for it even where GSM-7 would do; a character outside
 * GSM-7 is counted as UCS-2 even where `GSM7` is asked for (`checkText` refuses that text).
 */
export function countSegments(text: string, encoding: Encoding): SegmentCount {
  const septets = countSeptets(text);
  if (septets === undefined) return countUcs2(text, listUcs2Characters(text));
  if (encoding === 'UCS2') return countUcs2(text, undefined);
  const segments = septets <= GSM7_SINGLE ? Math.min(septets, 1) : countParts(text, GSM7_PART, septetsOf);
  return { encoding: 'GSM7', segments, units: septets, extraParts: 0, ucs2Characters: undefined };
}

function countUcs2(text: string, ucs2Characters: string | undefined): SegmentCount {
  const units = text.length;
  const segments = units <= UCS2_SINGLE ? Math.min(units, 1) : countParts(text, UCS2_PART, unitsOf);
  const inGsm7 = units <= GSM7_SINGLE ? Math.min(units, 1) : Math.ceil(units / GSM7_PART);
  return { encoding: 'UCS2', segments, units, extraParts: segments - inGsm7, ucs2Characters };
}

/** A character, such as an escape and its code or the two halves of a surrogate pair, stays in one part: the units before it are then left empty. */
function countParts(text: string, unitsOfPart: number, measure: (codePoint: number) => number): number {
  let parts = 1;
  let used = 0;
  // In half the time of a loop over characters.
  for (let index = 0, codePoint = 0; index < text.length; index += unitsOf(codePoint)) {
    codePoint = text.codePointAt(index) as number;
    const units = measure(codePoint);
    if (used + units > unitsOfPart) {
      parts++;
      used = 0;
    }
    used += units;
  }
  return parts;
}

function unitsOf(codePoint: number): number {
  return codePoint > 0xffff ? 2 : 1;
}

/** Escapes included; undefined for a text that GSM-7 does not have. */
function countSeptets(text: string): number | undefined {
  let septets = 0;
  for (let index = 0; index < text.length; index++) {
    const width = septetsOf(text.charCodeAt(index));
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
    if (septetsOf(character.charCodeAt(0)) !== 0 || found.includes(character)) continue;
    found += character;
    if (found.length >= MOST_UCS2_UNITS) break;
  }
  return found;
}

/** The GSM 7-bit default alphabet and its extension table, 3GPP TS 23.038, 6.2.1 and 6.2.1.1. */
const DEFAULT_ALPHABET =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
/** Each costs two septets: the escape and its code. */
const EXTENSION_TABLE = '\f^{}\\[~]|€';

/** Septets that a UTF-16 code unit costs in GSM-7: 1 or 2, and 0 where GSM-7 does not have it. */
const septetsByCodeUnit = new Uint8Array(65_536);
for (const character of DEFAULT_ALPHABET) septetsByCodeUnit[character.charCodeAt(0)] = 1;
for (const character of EXTENSION_TABLE) septetsByCodeUnit[character.charCodeAt(0)] = 2;

function septetsOf(codeUnit: number): number {
  return septetsByCodeUnit[codeUnit] as number;
}

/** What word processors put in place of what was typed → what GSM-7 has. */
const REPLACEMENTS: ReadonlyMap<string, string> = new Map([
  ...pairs("'", '\u2018\u2019\u201a\u201b\u2039\u203a\u2032\u02bc'),
  ...pairs('"', '\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033'),
  ...pairs('-', '\u2010\u2011\u2012\u2013\u2014\u2015\u2212'),
  ...pairs('...', '\u2026'),
  ...pairs(' ', '\u00a0\u2007\u2009\u202f'),
]);
const REPLACED = new RegExp(`[${[...REPLACEMENTS.keys()].join('')}]`, 'g');

function pairs(replacement: string, characters: string): [string, string][] {
  return [...characters].map((character) => [character, replacement]);
}

/**
 * The text with typographic quotes, dashes, ellipses and blanks as GSM-7 writes them, and which of them it had, each once. Undefined
 * where that is not enough for GSM-7, or not needed: the text is then left as it is.
 */
export function replaceTypography(text: string): { readonly text: string; readonly replaced: string } | undefined {
  const found = text.match(REPLACED);
  if (found === null) return undefined;
  const plain = text.replace(REPLACED, (character) => REPLACEMENTS.get(character) ?? character);
  if (countSeptets(plain) === undefined) return undefined;
  return { text: plain, replaced: [...new Set(found)].sort().join('') };
}

/** Omits characters that `replaceTypography` replaces. */
export function omitReplaceable(characters: string): string {
  return characters.replace(REPLACED, '');
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

/** Names each character for people: itself where it can be seen, its code point, and its Unicode name where that helps. */
export function nameCharacters(characters: string): string[] {
  return [...characters].map((character) => nameCharacter(character.codePointAt(0) ?? 0));
}

export function nameCharacter(codePoint: number): string {
  const code = `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
  const name = NAMES[codePoint];
  const label = name === undefined ? code : `${code} ${name}`;
  const character = String.fromCodePoint(codePoint);
  return INVISIBLE.test(character) ? label : `${character} (${label})`;
}
