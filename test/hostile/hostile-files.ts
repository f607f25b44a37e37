import { gzipSync } from 'node:zlib';
import fc from 'fast-check';

export type HostileFile = Readonly<{ name: string; bytes: Buffer }>;

const aName = fc.constantFrom(
  ...['name', 'mobile', ' Mobile ', '', '__proto__', 'constructor', 'toString', '_row', '_reason', '_text'],
  ...['\uFEFFx', 'a,b', '=1', '6591234567', '\u202Ex'],
);
const aCell = fc.oneof(
  { weight: 3, arbitrary: fc.nat({ max: 9999 }).map((last) => `+659123${String(last).padStart(4, '0')}`) },
  fc.constantFrom(
    ...['Ann', '', ' ', '91234567', '6.59123E+09', '6591234567.0', '=cmd|x', '"', '"x"y', 'a\nb', '\r'],
    ...["'+1", '\uFEFF'],
    ...['\u202E', '😀', '{{ name }}', '{% raw %}', '\\', '\u0007', '\u0085', '\u2028', 'a'.repeat(2000)],
  ),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 3 }) },
);

const aRow: fc.Arbitrary<string[]> = fc.oneof(
  { weight: 5, arbitrary: fc.array(aCell, { minLength: 2, maxLength: 2 }) },
  fc.array(aCell, { maxLength: 4 }),
);

const aHeader: fc.Arbitrary<string[]> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<string[]>(['name', 'mobile']) },
  fc.array(aName, { maxLength: 5 }),
);

const aCsv = fc
  .record({
    header: aHeader,
    rows: fc.array(aRow, { maxLength: 8 }),
    delimiter: fc.constantFrom(',', ';', '\t'),
    end: fc.constantFrom('\n', '\r\n', '\r'),
    isQuoted: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.constant(false)),
  })
  .map(({ header, rows, delimiter, end, isQuoted }) => {
    const write = (cell: string) => (isQuoted ? `"${cell.replaceAll('"', '""')}"` : cell);
    return [header, ...rows].map((cells) => cells.map(write).join(delimiter) + end).join('');
  });

const anNdjson = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.record({ name: aCell, mobile: aCell }).map((row) => JSON.stringify(row)) },
      fc.dictionary(aName, fc.oneof(aCell, fc.jsonValue())).map((row) => JSON.stringify(row)),
      fc.jsonValue().map((value) => JSON.stringify(value)),
      fc.constantFrom('{"mobile":"+6591234567","mobile":"1"}', '{"mobile":65912345678901234567}', '{"name":"\\ud800"}'),
      fc.constantFrom('{', '[[[[', '', '{"a":"\\u0000","mobile":"+6591234567"}'),
    ),
    { maxLength: 8 },
  )
  .map((lines) => lines.join('\n'));

const anEncoding = fc.oneof(
  { weight: 5, arbitrary: fc.constant((text: string) => Buffer.from(text)) },
  fc.constantFrom<(text: string) => Buffer>(
    (text) => Buffer.from(`\uFEFF${text}`),
    (text) => Buffer.from(`\uFEFF${text}`, 'utf16le'),
    (text) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16(),
    (text) => Buffer.from(text, 'latin1'),
  ),
);

interface Damage {
  /** Part of the file's length. */
  readonly at: number;
  readonly kind: 'set' | 'insert' | 'cut' | 'end';
  readonly byte: number;
}

/** Bytes that are changed, put in, cut out, or all that follows is gone: none, mostly. */
const aDamage = fc.array(
  fc.record<Damage>({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    kind: fc.constantFrom('set', 'insert', 'cut', 'end'),
    byte: fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0, 0x22, 0x0a, 0x0d, 0x2c)),
  }),
  { maxLength: 3, size: '-1' },
);

function damage(bytes: Buffer, damages: readonly Damage[]): Buffer {
  return damages.reduce<Buffer>((left, { at, kind, byte }) => {
    const index = Math.floor(at * left.length);
    const from = { set: index + 1, insert: index, cut: index + 7, end: left.length }[kind];
    const put = kind === 'set' || kind === 'insert' ? [byte] : [];
    return Buffer.concat([left.subarray(0, index), Buffer.from(put), left.subarray(from)]);
  }, bytes);
}

/** A file that someone may hand over: good, odd, damaged, or nothing but bytes. */
export const aHostileFile: fc.Arbitrary<HostileFile> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      name: fc.constantFrom('people.csv', 'people.ndjson', 'people.csv.gz', 'people'),
      bytes: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    }),
  },
  {
    weight: 9,
    arbitrary: fc
      .tuple(
        fc.oneof(
          aCsv.map((text) => ({ name: 'people.csv', text })),
          anNdjson.map((text) => ({ name: 'people.ndjson', text })),
        ),
        anEncoding,
        aDamage,
        fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
      )
      .map(([{ name, text }, encode, damages, isPacked]) => {
        const bytes = encode(text);
        return { name, bytes: damage(isPacked ? gzipSync(bytes) : bytes, damages) };
      }),
  },
);
