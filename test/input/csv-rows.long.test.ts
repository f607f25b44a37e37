import { CsvError } from 'csv-parse';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RowWriter } from '../../src/domain/bytes/row-writer.js';
import { CsvParser, type RawRows } from '../../src/input/csv/csv-parser.js';
import { isBlankRow } from '../../src/input/csv/csv-row.js';
import { CsvRows } from '../../src/input/csv/csv-rows.js';
import type { Delimiter } from '../../src/input/csv/delimiter.js';
import { anInput } from './builders.js';

const { limits } = anInput();

interface ReadRow {
  readonly row: readonly string[];
  readonly line: number | undefined;
  readonly isSpanning: boolean;
}

/** All that is reported of a text: rows with their lines, or what is wrong, and where. */
async function readPieces(pieces: readonly string[], parser: CsvParser) {
  const read: ReadRow[] = [];
  const take = () => read.push(...listRows(parser.takeRows()));
  try {
    for (const piece of pieces) {
      await parser.parsePiece(Buffer.from(piece));
      take();
    }
    await parser.parseEnd();
    take();
  } catch (error) {
    take();
    return { read, ...tellError(error), line: parser.openLine };
  }
  return { read, blankLines: parser.blankLines, longField: parser.longField };
}

/** The same of rows that are cut, as far as they can be. */
async function cutPieces(pieces: readonly string[], rows: CsvRows) {
  const read: ReadRow[] = [];
  const take = async () => {
    read.push(...cutRows(rows));
    read.push(...listRows(await rows.parse()));
  };
  try {
    for (const piece of pieces) {
      await rows.give(Buffer.from(piece));
      await take();
    }
    await rows.end();
    await take();
  } catch (error) {
    read.push(...listRows(await rows.parse()));
    return { read, ...tellError(error), line: rows.openLine };
  }
  return { read, blankLines: rows.blankLines, longField: rows.longField };
}

/** Those with two cells are kept, as if the file had two columns. */
function cutRows(rows: CsvRows): ReadRow[] {
  const read: ReadRow[] = [];
  const writer = new RowWriter(2);
  for (let line = rows.cut(writer); line !== undefined; line = rows.cut(writer)) {
    const isPlain = writer.isPlain;
    const row = writer.takeBack();
    read.push({ row, line, isSpanning: false });
    expect(isPlain && (row.length !== 2 || isBlankRow(row))).toBe(false);
    if (!isPlain) continue;
    writer.keep(line);
    expectRow(writer, row);
  }
  return read;
}

function expectRow(writer: RowWriter, row: readonly string[]): void {
  const cells = writer.cells;
  cells.row = writer.count - 1;
  expect(cells.texts).toEqual(row);
  expect(row.map((_, column) => cells.cell(column))).toEqual(row);
  const json = row.map((cell) => JSON.stringify(cell).slice(1, -1));
  const bytes = Buffer.from(cells.bytes);
  expect(row.map((_, column) => bytes.toString('utf8', cells.startOf(column), cells.endOf(column)))).toEqual(json);
  expect(bytes.toString('utf8', cells.start, cells.end)).toBe(JSON.stringify(row));
}

function listRows({ rows, lines, spanning }: RawRows): ReadRow[] {
  return rows.map((row, index) => ({ row, line: lines[index], isSpanning: spanning.has(index) }));
}

function tellError(error: unknown): { code: string } {
  if (!(error instanceof CsvError)) throw error;
  return { code: error.code };
}

const aField = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.string({
      unit: fc.constantFrom('a', ' ', '\u00a0', '\ufeff', 'é', '😀', "'", '|', '\\', '\t', '\u0001'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.string({ unit: fc.constantFrom('a', 'é', ',', '""', '|', '\\', '\t') }).map((text) => `"${text}"`),
  },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r') }) },
);
const aLine = fc
  .tuple(fc.array(aField, { maxLength: 4 }), fc.constantFrom('\n', '\n', '\n', '\r\n', '\r\n', '\r', '\n\n', ''))
  .map(([fields, end]) => fields.join(',') + end);
const aText = fc.oneof(
  fc.array(aLine, { maxLength: 12 }).map((lines) => lines.join('')),
  fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', 'é') }),
);
const aCut = fc.array(fc.nat({ max: 60 }), { maxLength: 4 });

function cutInto(text: string, cuts: readonly number[]): string[] {
  const characters = [...text];
  const ends = [...cuts, characters.length].sort((one, other) => one - other);
  return ends.map((end, index) => characters.slice(ends[index - 1] ?? 0, end).join('')).filter((piece) => piece !== '');
}

describe('Rows that are cut here', () => {
  it.each([
    { limit: 'those of every input', options: limits },
    { limit: 'narrow ones', options: { ...limits, maxFieldBytes: 9, maxLineBytes: 30 } },
  ])(
    'are those of csv-parse, with its lines and its errors, whatever the text and its pieces: limits are $limit',
    async ({ options }) => {
      const property = fc.asyncProperty(
        aText,
        aCut,
        fc.constantFrom<Delimiter>(',', ',', ',', '|', '\t'),
        async (text, cuts, delimiter) => {
          const pieces = cutInto(text, cuts);
          const ours = await cutPieces(pieces, new CsvRows(delimiter, options));
          expect(ours).toEqual(await readPieces(pieces, new CsvParser(delimiter, options, 1)));
        },
      );
      await fc.assert(property, { numRuns: 3000 });
    },
  );

  it.each([
    ['a line without an end', 'x'.repeat(1000)],
    ['blank lines without an end', '\r\n'.repeat(500)],
  ])('are not kept back for %s: it goes to csv-parse, which counts on', async (_, piece) => {
    const rows = new CsvRows(',', limits);
    const parser = new CsvParser(',', limits, 1);
    for (const each of ['a,b\n', ...Array.from({ length: 70 }, () => piece)]) {
      await rows.give(Buffer.from(each));
      cutRows(rows);
      await rows.parse();
      await parser.parsePiece(Buffer.from(each));
    }
    expect(rows.openLine).toBe(parser.openLine);
    expect(rows.openBytes > 0).toBe(parser.openBytes > 0);
  });

  it('are all rows of a file as most are', async () => {
    const text = 'name,number\r\n\r\n"Doe, ""Jo""",+4917012\r\nÄ\t,\n"",""\n';
    const rows = new CsvRows(',', limits);
    await rows.give(Buffer.from(text));
    expect(cutRows(rows).map(({ row, line }) => [line, ...row])).toEqual([
      [1, 'name', 'number'],
      [3, 'Doe, "Jo"', '+4917012'],
      [4, 'Ä\t', ''],
      [5, '', ''],
    ]);
    expect([rows.blankLines, rows.openLine, (await rows.parse()).rows]).toEqual([1, 6, []]);
  });

  it.each([
    ['a quote within a field', 'a"b,c\n'],
    ['text behind a closing quote', '"a"b,c\n'],
    ['a field of several lines', '"a\nb",c\n'],
    ['a line that ends with CR alone', 'a\rb,c\n'],
    ['a row beyond the limit', `${'a'.repeat(99)},c\n`],
  ])('end before %s', async (_, line) => {
    const rows = new CsvRows(',', { ...limits, maxFieldBytes: 100 });
    await rows.give(Buffer.from(`x,y\n\n${line}z,z\n`));
    expect(cutRows(rows).map(({ row }) => row)).toEqual([['x', 'y']]);
    expect([rows.openLine, cutRows(rows)]).toEqual([2, []]);
  });

  it('are cut up to the limit, each', async () => {
    const rows = new CsvRows(',', { ...limits, maxFieldBytes: 100 });
    await rows.give(Buffer.from(`${'a'.repeat(98)},c\n`.repeat(2)));
    expect(cutRows(rows)).toHaveLength(2);
  });
});
