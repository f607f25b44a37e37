import { describe, expect, it } from 'vitest';
import { aDirectory, aFile, aGzip, anInput, readRefused, readWhole } from '../builders.js';

const directory = aDirectory();
const file = (content: string | Uint8Array) => aFile(directory, content);
const utf16 = (text: string, order: 'le' | 'be') => {
  const bytes = Buffer.from(text, 'utf16le');
  return order === 'le' ? bytes : bytes.swap16();
};
const stated = (encoding: string) => anInput({ encoding });
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))));

describe('encoding by mark', () => {
  it.each([
    ['utf-8', Buffer.from('\uFEFFnäme,b\nÖ😀,2\n')],
    ['utf-16le', utf16('\uFEFFnäme,b\nÖ😀,2\n', 'le')],
    ['utf-16be', utf16('\uFEFFnäme,b\nÖ😀,2\n', 'be')],
  ])('%s is known by its mark, and said', async (name, content) => {
    const { columns, cells, notices } = await readWhole(file(content));
    expect(columns).toEqual(['näme', 'b']);
    expect(cells).toEqual([['Ö😀', '2']]);
    expect(notices).toContain(`the encoding is ${name}, by its byte order mark`);
  });

  it('holds for what gzip unpacks to', async () => {
    expect((await readWhole(aFile(directory, aGzip('\uFEFFa,b\n'), 'people.csv.gz'))).columns).toEqual(['a', 'b']);
  });

  it('keeps a mark that stands inside the text', async () => {
    expect((await readWhole(file(utf16('\uFEFFa\nx\uFEFFy\n', 'le')))).cells).toEqual([['x\uFEFFy']]);
  });

  it('refuses UTF-32', async () => {
    expect(await readRefused(file(bytes([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])))).toEqual([
      'people.csv: it is UTF-32 by its byte order mark, expected another encoding',
    ]);
  });

  it('refuses a stated encoding that the mark contradicts', async () => {
    expect(await readRefused(file('\uFEFFa\n1\n'), stated('windows-1252'))).toEqual([
      'people.csv: the encoding is stated as windows-1252, but its byte order mark says utf-8; expected them to agree',
    ]);
    expect(await readRefused(file('\uFEFFa\n1\n'), stated('utf-16'))).toHaveLength(1);
    expect(await readRefused(file(utf16('\uFEFFa\n1\n', 'be')), stated('utf-16le'))).toHaveLength(1);
  });

  it('takes utf-16 for either byte order', async () => {
    for (const order of ['le', 'be'] as const) {
      expect((await readWhole(file(utf16('\uFEFFa\n1\n', order)), stated('utf-16'))).cells).toEqual([['1']]);
    }
  });
});

describe('encoding without a mark', () => {
  it('is strict UTF-8: anything else is refused with its line and byte, never guessed', async () => {
    expect(await readRefused(file(bytes('a,b\r\n1,2\r\n3,caf', [0xe9], '\r\n')))).toEqual([
      'people.csv:3: invalid utf-8 at byte 15 (0xE9), expected text in that encoding',
    ]);
  });

  it('is refused with what to do: state the encoding, or save the file as UTF-8', async () => {
    const hint =
      'Spreadsheets often write windows-1252: say so by `encoding: windows-1252` in the input of the job; for volley init, by --encoding windows-1252. Or save the file as UTF-8.';
    const refused = readWhole(file(bytes('a,b\n1,caf', [0xe9], '\n')));
    await expect(refused).rejects.toMatchObject({ code: 'bad-input', hint, problems: [{ hint }] });
  });

  it.each([
    ['overlong', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
    ['a lone continuation', [0x80]],
    ['a lead without its rest', [0xe2, 0x82, 0x41]],
  ])('refuses UTF-8 that is %s', async (_what, sequence) => {
    const [refusal] = await readRefused(file(bytes('a\n', sequence, '\n')));
    expect(refusal).toMatch(/^people\.csv:2: invalid utf-8 at byte 2 \(0x[0-9A-F]{2}\)/);
  });

  it('finds the line far into a file of many pieces', async () => {
    const rows = Array.from({ length: 50_000 }, (_, index) => `${index},Müller €\r`);
    const content = Buffer.from(`a,b\r${rows.join('')}`);
    const [refusal] = await readRefused(file(Buffer.concat([content, bytes('x', [0xff])])));
    expect(refusal).toBe(
      `people.csv:50002: invalid utf-8 at byte ${content.length + 1} (0xFF), expected text in that encoding`,
    );
  });

  it('reads characters whole wherever a piece of the file ends', async () => {
    for (let shift = 0; shift < 4; shift += 1) {
      const text = `${'x'.repeat(shift)}${'😀'.repeat(70_000)}`;
      expect((await readWhole(file(`a\n${text}\n`))).cells).toEqual([[text]]);
    }
  });

  it('refuses a file that ends in the middle of a character', async () => {
    expect(await readRefused(file(bytes('a\nx', [0xe2, 0x82])))).toEqual([
      'people.csv:2: the file ends in the middle of a character of utf-8, expected a whole file',
    ]);
  });

  it('names UTF-16 without a mark as what it is', async () => {
    expect(await readRefused(file(utf16('a,b\n1,2\n', 'le')))).toEqual([
      'people.csv:1: byte 1 is NUL, expected text: the file is UTF-16 without a byte order mark, or not text',
    ]);
    expect(await readRefused(file(utf16('é,b\n', 'le')))).toEqual([
      'people.csv:1: byte 1 is NUL, expected text: the file is UTF-16 without a byte order mark, or not text',
    ]);
  });

  it.each([
    ['of UTF-16 without a mark the byte order that it has', utf16('a,b\n', 'be'), {}, '`encoding: utf-16be`'],
    ['and the other one', utf16('a,b\n', 'le'), {}, '`encoding: utf-16le`'],
    [
      'for an encoding that is stated, none that reads any bytes',
      bytes('a\n', [0xaa, 0xa1, 0x80]),
      stated('gbk'),
      'Save the file as UTF-8; or',
    ],
  ])('advises %s', async (_, content, input, hint) => {
    await expect(readWhole(file(content), { ...anInput(), ...input })).rejects.toMatchObject({
      hint: expect.stringContaining(hint),
    });
  });

  it('refuses a NUL with its line', async () => {
    expect(await readRefused(file('a,b\n1,2\n3,\0\n'))).toEqual([
      'people.csv:3: byte 10 is NUL, expected text: the file is UTF-16 without a byte order mark, or not text',
    ]);
  });
});

describe('stated encoding', () => {
  it.each([
    ['windows-1252', [0x80, 0x99, 0xe9], '€™é'],
    ['latin1', [0x80, 0x9c, 0xfc], '€œü'],
    ['gb18030', [0x94, 0x39, 0xda, 0x33], '💩'],
    ['big5-hkscs', [0x9d, 0xef, 0x9d, 0xf6, 0x9d, 0xf7, 0xca, 0x5c, 0x9d, 0xcf], '嘅喺咗佢嘢'],
    ['UTF-8', [0xc3, 0xa9], 'é'],
  ])('%s is read, and said', async (encoding, sequence, text) => {
    const { cells, notices } = await readWhole(file(bytes('a,b\n1,', sequence, '\n')), stated(encoding));
    expect(cells).toEqual([['1', text]]);
    expect(notices[0]).toMatch(/^the encoding is .*, as stated$/);
  });

  it('utf-16le and utf-16be are read without a mark', async () => {
    for (const order of ['le', 'be'] as const) {
      expect((await readWhole(file(utf16('a\nÖ\n', order)), stated(`utf-16${order}`))).cells).toEqual([['Ö']]);
    }
  });

  // Every code of each: decoder.test.ts.
  it.each([
    ['shift_jis', [0x83, 0x0a]],
    ['windows-1252', [0x81]],
    ['gb18030', [0x81, 0x30, 0x81, 0x30]],
  ])('%s: bytes that mean nothing in it are refused with their line', async (encoding, sequence) => {
    const [refusal] = await readRefused(file(bytes('a\n1\n', sequence, '1\n')), stated(encoding));
    expect(refusal).toMatch(new RegExp(`^people\\.csv:3: invalid ${encoding} at byte 4 \\(0x..\\)`));
  });

  it.each([
    ['utf-16le', utf16('a\n\ud83d\n', 'le')],
    ['utf-16be', utf16('a\n\ude00\n', 'be')],
  ])('%s: half a character is refused', async (encoding, content) => {
    const [refusal] = await readRefused(file(content), stated(encoding));
    expect(refusal).toMatch(/^people\.csv:2: invalid utf-16/);
  });

  it.each([
    ['utf-16le', bytes(utf16('a\n1', 'le').toString('latin1'), [0x32])],
    ['shift_jis', bytes('a\n1', [0x83])],
    ['gb18030', bytes('a\n1', [0x94, 0x39])],
  ])('%s: a file that ends in the middle of a character is refused', async (encoding, content) => {
    expect(await readRefused(file(content), stated(encoding))).toEqual([
      `people.csv:2: the file ends in the middle of a character of ${encoding}, expected a whole file`,
    ]);
  });

  it.each(['utf-9', 'iso-2022-jp', 'x-user-defined', ''])('%j is refused, and labels are named', async (encoding) => {
    const [refusal] = await readRefused(file('a\n1\n'), stated(encoding));
    expect(refusal).toMatch(/^people\.csv: the encoding ".*" is not known, expected a label such as utf-8, .*gbk/);
  });

  it('says so when a file reads as UTF-8 as well', async () => {
    const suspicion = 'the job states windows-1252, but the whole file is valid UTF-8: check its text';
    const noticesOf = async (content: string | Uint8Array) =>
      (await readWhole(file(content), stated('windows-1252'))).notices;
    expect(await noticesOf('a\nJosé\n')).toContain(suspicion);
    expect(await noticesOf('a\nJose\n')).not.toContain(suspicion);
    expect(await noticesOf(bytes('a\nJos', [0xe9], '\n'))).not.toContain(suspicion);
  });
});
