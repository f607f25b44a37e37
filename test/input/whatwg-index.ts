import { readFileSync } from 'node:fs';

/**
 * What the Encoding Standard (https://encoding.spec.whatwg.org) makes of one code, read off its indexes and not by any decoder.
 * Undefined: an error. The indexes are those that @kayahr/text-encoding ships as data; 0 stands where they have nothing.
 */
export type DecodeCode = (code: readonly number[]) => string | undefined;

export const SINGLE_BYTE = [
  ...['windows-874', 'windows-1250', 'windows-1251', 'windows-1252', 'windows-1253', 'windows-1254', 'windows-1255'],
  ...['windows-1256', 'windows-1257', 'windows-1258', 'iso-8859-2', 'iso-8859-3', 'iso-8859-4', 'iso-8859-5'],
  ...['iso-8859-6', 'iso-8859-7', 'iso-8859-8', 'iso-8859-8-i', 'iso-8859-10', 'iso-8859-13', 'iso-8859-14'],
  ...['iso-8859-15', 'iso-8859-16', 'koi8-r', 'koi8-u', 'ibm866', 'macintosh', 'x-mac-cyrillic'],
];
export const MULTI_BYTE = ['shift_jis', 'euc-jp', 'gbk', 'gb18030', 'big5', 'euc-kr'];

/** For codes of any number of bytes that are one character; or, of two bytes, two. */
export function decodeByIndex(encoding: string): DecodeCode {
  const one = singleByteOf(encoding);
  const pair = PAIRS[encoding] ?? (() => undefined);
  const decode: DecodeCode = (code) => {
    const [first = 0, second, third = 0, fourth = 0] = code;
    if (second === undefined) return one(first);
    if (code.length === 4) return encoding === 'gb18030' ? quadOf(first, second, third, fourth) : undefined;
    if (code.length === 3)
      return encoding === 'euc-jp' && first === 0x8f ? eucPair(jis0212())(second, third) : undefined;
    const alone = one(first);
    const next = alone === undefined ? undefined : one(second);
    if (alone !== undefined) return next === undefined ? undefined : alone + next;
    return pair(first, second);
  };
  return decode;
}

function singleByteOf(encoding: string): (byte: number) => string | undefined {
  const index = SINGLE_BYTE.includes(encoding) ? readIndex(encoding === 'iso-8859-8-i' ? 'iso-8859-8' : encoding) : [];
  return (byte) => {
    if (byte < 0x80) return String.fromCharCode(byte);
    if (encoding === 'shift_jis' && byte === 0x80) return '\u0080';
    if (encoding === 'shift_jis' && byte >= 0xa1 && byte <= 0xdf) return String.fromCharCode(0xff61 - 0xa1 + byte);
    if (encoding.startsWith('gb') && byte === 0x80) return '€';
    return toText(index[byte - 0x80]);
  };
}

type DecodePair = (lead: number, trail: number) => string | undefined;
const isIn = (byte: number, from: number, to: number) => byte >= from && byte <= to;

const PAIRS: Readonly<Record<string, DecodePair>> = {
  'euc-kr': (lead, trail) =>
    isIn(lead, 0x81, 0xfe) && isIn(trail, 0x41, 0xfe) ? toText(eucKr()[(lead - 0x81) * 190 + trail - 0x41]) : undefined,
  gbk: decodeGbPair,
  gb18030: decodeGbPair,
  big5: (lead, trail) => {
    if (!isIn(lead, 0x81, 0xfe) || !(isIn(trail, 0x40, 0x7e) || isIn(trail, 0xa1, 0xfe))) return undefined;
    const pointer = (lead - 0x81) * 157 + trail - (trail < 0x7f ? 0x40 : 0x62);
    return BIG5_TWO[pointer] ?? toText(big5()[pointer]);
  },
  shift_jis: (lead, trail) => {
    if (!(isIn(lead, 0x81, 0x9f) || isIn(lead, 0xe0, 0xfc))) return undefined;
    if (!(isIn(trail, 0x40, 0x7e) || isIn(trail, 0x80, 0xfc))) return undefined;
    const pointer = (lead - (lead < 0xa0 ? 0x81 : 0xc1)) * 188 + trail - (trail < 0x7f ? 0x40 : 0x41);
    return isIn(pointer, 8836, 10715) ? String.fromCharCode(0xe000 - 8836 + pointer) : toText(jis0208()[pointer]);
  },
  'euc-jp': (lead, trail) => {
    if (lead !== 0x8e) return eucPair(jis0208())(lead, trail);
    return isIn(trail, 0xa1, 0xdf) ? String.fromCharCode(0xff61 - 0xa1 + trail) : undefined;
  },
};

/** Letters with two marks, for which Unicode has no character of their own. */
const BIG5_TWO: Readonly<Record<number, string>> = {
  1133: '\u00ca\u0304',
  1135: '\u00ca\u030c',
  1164: '\u00ea\u0304',
  1166: '\u00ea\u030c',
};

function decodeGbPair(lead: number, trail: number): string | undefined {
  if (!isIn(lead, 0x81, 0xfe) || !(isIn(trail, 0x40, 0x7e) || isIn(trail, 0x80, 0xfe))) return undefined;
  return toText(gb18030()[(lead - 0x81) * 190 + trail - (trail < 0x7f ? 0x40 : 0x41)]);
}

function eucPair(index: readonly number[]): DecodePair {
  return (lead, trail) =>
    isIn(lead, 0xa1, 0xfe) && isIn(trail, 0xa1, 0xfe) ? toText(index[(lead - 0xa1) * 94 + trail - 0xa1]) : undefined;
}

function quadOf(first: number, second: number, third: number, fourth: number): string | undefined {
  if (!isIn(first, 0x81, 0xfe) || !isIn(third, 0x81, 0xfe)) return undefined;
  if (!isIn(second, 0x30, 0x39) || !isIn(fourth, 0x30, 0x39)) return undefined;
  const pointer = (((first - 0x81) * 10 + second - 0x30) * 126 + third - 0x81) * 10 + fourth - 0x30;
  if (isIn(pointer, 39420, 188999) || pointer > 1237575) return undefined;
  if (pointer === 7457) return '\ue7c7';
  const [from, codePoint] = ranges().findLast(([start]) => start <= pointer) ?? [0, 0];
  return String.fromCodePoint(codePoint + pointer - from);
}

function toText(codePoint: number | undefined): string | undefined {
  return codePoint === undefined || codePoint === 0 ? undefined : String.fromCodePoint(codePoint);
}

const eucKr = once(() => readIndex('euc-kr'));
const gb18030 = once(() => readIndex('gb18030'));
const big5 = once(() => readIndex('big5'));
const jis0208 = once(() => readIndex('jis0208'));
const jis0212 = once(() => readIndex('jis0212'));
const ranges = once(() => readData('gb18030.ranges.js') as [number, number][]);

function readIndex(name: string): number[] {
  return readData(name === 'x-mac-cyrillic' ? `${name}.cp.json` : `${name}.cp.js`) as number[];
}

function readData(file: string): unknown {
  const path = new URL(`../../node_modules/@kayahr/text-encoding/data/${file}`, import.meta.url);
  return JSON.parse(readFileSync(path, 'utf8').replace(/^export default /, ''));
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
