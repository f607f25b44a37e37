import { TextDecoder as OtherDecoder } from '@kayahr/text-encoding';
import { describe, expect, it } from 'vitest';
import { createDecoder } from '../../../src/input/text/encoding.js';
import { findEncodingName } from '../../../src/job/schema/values.js';
import { oneIn } from '../../one-in.js';

const SINGLE_BYTE = [
  ...['windows-874', 'windows-1250', 'windows-1251', 'windows-1252', 'windows-1253', 'windows-1254', 'windows-1255'],
  ...['windows-1256', 'windows-1257', 'windows-1258', 'iso-8859-2', 'iso-8859-3', 'iso-8859-4', 'iso-8859-5'],
  ...['iso-8859-6', 'iso-8859-7', 'iso-8859-8', 'iso-8859-8-i', 'iso-8859-10', 'iso-8859-13', 'iso-8859-14'],
  ...['iso-8859-15', 'iso-8859-16', 'koi8-r', 'koi8-u', 'ibm866', 'macintosh', 'x-mac-cyrillic'],
];
const MULTI_BYTE = ['shift_jis', 'euc-jp', 'gbk', 'gb18030', 'big5', 'euc-kr'];

/** Of another library, with tables of its own. Undefined: an error. */
function decodeOtherwise(encoding: string): (code: readonly number[]) => string | undefined {
  const decoder = new OtherDecoder(encoding, { fatal: true, ignoreBOM: true });
  return (code) => {
    try {
      return decoder.decode(Uint8Array.from(code));
    } catch {
      return undefined;
    }
  };
}

/** Controls beyond ASCII, and what each maker of fonts gave a meaning of its own: no text that a person wrote. */
const NO_TEXT = /[\0\u0080-\u009f\ue000-\uf8ff]/;
const BYTES = Array.from({ length: 256 }, (_, byte) => byte);
const HIGH_BYTES = BYTES.slice(0x80);

async function decodeWhole(name: string, pieces: readonly Uint8Array[]): Promise<string | undefined> {
  const decoder = await createDecoder({ name, markBytes: 0, notice: undefined });
  let text = '';
  for (const piece of pieces) {
    const decoded = decoder.decode(Buffer.from(piece));
    if (decoded === undefined) return undefined;
    text += decoded.toString();
  }
  const rest = decoder.finish();
  return rest && text + rest.toString();
}

/** Codes that another library decodes otherwise, each as `bytes: read, expected`. */
async function findDifferences(encoding: string, codes: Iterable<readonly number[]>): Promise<string[]> {
  const decodeStandard = decodeOtherwise(encoding);
  const create = () => createDecoder({ name: encoding, markBytes: 0, notice: undefined });
  const differing: string[] = [];
  let decoder = await create();
  for (const code of codes) {
    const standard = decodeStandard(code);
    const expected = standard === undefined || NO_TEXT.test(standard) ? undefined : standard;
    const begun = decoder.decode(Buffer.from(code));
    const ended = begun && decoder.finish();
    const read = begun && ended && begun.toString() + ended.toString();
    if (read !== expected) differing.push(`${Buffer.from(code).toString('hex')}: ${read}, ${expected}`);
    // One that ended well begins anew.
    if (read === undefined) decoder = await create();
  }
  return differing;
}

function* pairs(): Generator<[number, number]> {
  for (const lead of HIGH_BYTES) for (const trail of BYTES) yield [lead, trail];
}

describe('every code of an older encoding is what another library reads, or refused', () => {
  it.each([...SINGLE_BYTE, ...MULTI_BYTE])('%s: every byte', async (encoding) => {
    expect(findEncodingName(encoding)).toBe(encoding);
    expect(
      await findDifferences(
        encoding,
        BYTES.map((byte) => [byte]),
      ),
    ).toEqual([]);
  });

  const EVERY: readonly (readonly [string, string, () => Iterable<readonly number[]>])[] = [
    ...MULTI_BYTE.map((encoding) => [`${encoding}: every two bytes`, encoding, pairs] as const),
    ['euc-jp: every code of three bytes', 'euc-jp', () => [...pairs()].map((pair) => [0x8f, ...pair])],
  ];
  it.each(oneIn(7, EVERY))('%s', async (_what, encoding, codes) => {
    expect(await findDifferences(encoding, codes())).toEqual([]);
  });

  it('gb18030: codes of four bytes that are text, all of the first plane and some of the others', async () => {
    const decodeStandard = decodeOtherwise('gb18030');
    let codes: number[][] = [];
    let texts: string[] = [];
    let count = 0;
    const check = async () => {
      expect(await decodeWhole('gb18030', [Uint8Array.from(codes.flat())])).toBe(texts.join(''));
      count += codes.length;
      codes = [];
      texts = [];
    };
    for (const code of oneIn(7, [...quads()])) {
      const text = decodeStandard(code);
      if (text === undefined || NO_TEXT.test(text)) continue;
      codes.push(code);
      texts.push(text);
      if (codes.length === 1000) await check();
    }
    await check();
    expect(count).toBeGreaterThan(6_000);
  });

  it('gb18030: codes of four bytes at the ends of each range, and beyond', async () => {
    const ends = [0x81, 0x82, 0x84, 0x85, 0x8f, 0x90, 0xe3, 0xe4, 0xfe, 0xff];
    const codes = ends.flatMap((first) =>
      [0x30, 0x32, 0x39, 0x3a].flatMap((second) =>
        [0x80, 0x81, 0x9a, 0xa4, 0xfe, 0xff].flatMap((third) =>
          [0x2f, 0x30, 0x35, 0x37, 0x39].map((fourth) => [first, second, third, fourth]),
        ),
      ),
    );
    // Broken off, each of them is other characters or an error: only what is one code is asked here.
    const whole = codes.filter(([, second = 0, third = 0]) => second <= 0x39 && third >= 0x81 && third <= 0xfe);
    expect(await findDifferences('gb18030', whole)).toEqual([]);
  });
});

function* quads(): Generator<[number, number, number, number]> {
  const digits = [0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39];
  const letters = BYTES.slice(0x81, 0xff);
  for (const first of letters) {
    for (const second of digits) {
      // Beyond the first plane one range counts on to the end.
      const thirds = first < 0x90 ? letters : [0x81 + ((first * 10 + second) % 126)];
      for (const third of thirds) for (const fourth of digits) yield [first, second, third, fourth];
    }
  }
}

describe('decoder', () => {
  it.each([
    ['utf-8', Buffer.from('嘅€😀é')],
    ['utf-16le', Buffer.from('嘅😀é', 'utf16le')],
    ['utf-16be', Buffer.from('嘅😀é', 'utf16le').swap16()],
    ['big5', Buffer.from([0xbc, 0x4b, 0x88, 0x62, 0x41, 0xa7, 0x41])],
    ['gb18030', Buffer.from([0x94, 0x39, 0xda, 0x33, 0xc4, 0xe3, 0x80, 0x41, 0x84, 0x31, 0xa4, 0x37])],
    ['gbk', Buffer.from([0xc4, 0xe3, 0x80, 0x41])],
    ['euc-kr', Buffer.from([0xb0, 0xa1, 0x41, 0xc8, 0xfe])],
    ['shift_jis', Buffer.from([0x83, 0x65, 0xb1, 0x41, 0x83, 0x5c])],
    ['euc-jp', Buffer.from([0xa4, 0xa2, 0x8f, 0xb0, 0xa1, 0x8e, 0xb1])],
    ['windows-1252', Buffer.from([0x80, 0x41, 0xe9])],
  ])('%s: reads the same wherever pieces end', async (name, content) => {
    const whole = await decodeWhole(name, [content]);
    expect(whole).toBeTypeOf('string');
    for (let first = 0; first <= content.length; first += 1) {
      for (let second = first; second <= content.length; second += 1) {
        const pieces = [content.subarray(0, first), content.subarray(first, second), content.subarray(second)];
        expect(await decodeWhole(name, pieces)).toBe(whole);
      }
    }
  });

  it('a replacement character that stands in the file is text: gb18030 has a code for it', async () => {
    expect(await decodeWhole('gb18030', [Uint8Array.of(0x84, 0x31, 0xa4, 0x37)])).toBe('\ufffd');
  });
});

describe('name of an encoding', () => {
  it.each([
    ['cp949', 'euc-kr'],
    ['ks_c_5601-1987', 'euc-kr'],
    [' Big5-HKSCS ', 'big5'],
    ['cp950', 'big5'],
    ['GB2312', 'gbk'],
    ['cp936', 'gbk'],
    ['cp932', 'shift_jis'],
    ['Windows-31J', 'shift_jis'],
    ['latin1', 'windows-1252'],
  ])('%s is %s', (label, name) => expect(findEncodingName(label)).toBe(name));

  it.each(['iso-2022-jp', 'x-user-defined', 'utf-7', ''])('%j has none', (label) =>
    expect(findEncodingName(label)).toBeUndefined(),
  );
});
