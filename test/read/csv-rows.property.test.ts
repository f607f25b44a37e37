import { CsvError } from 'csv-parse';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CsvParser } from '../../src/read/csv-parser.js';
import { CsvRows } from '../../src/read/csv-rows.js';
import type { Delimiter } from '../../src/read/delimiter.js';
import { cutPlainRows } from '../../src/read/plain-rows.js';
import { anInput } from './builders.js';

const { limits } = anInput();

/** All that is told of a text: rows with their lines, or what is wrong, and where. */
async function readPieces(rows: CsvRows | CsvParser, pieces: readonly string[]) {
  const read: { row: string[]; line: number | undefined; isSpanning: boolean }[] = [];
  const take = () => {
    const { rows: taken, lines, spanning } = rows.takeRows();
    for (const [index, row] of taken.entries()) read.push({ row, line: lines[index], isSpanning: spanning.has(index) });
  };
  let code: string | undefined;
  try {
    for (const piece of pieces) {
      await rows.parsePiece(Buffer.from(piece));
      take();
    }
    await rows.parseEnd();
    take();
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    code = error.code;
    take();
    return { read, code, line: rows.openLine };
  }
  return { read, code, blankLines: rows.blankLines, longField: rows.longField };
}

const aField = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: fc.constantFrom('a', ' ', 'é', '😀', "'", '|') }) },
  { weight: 3, arbitrary: fc.string({ unit: fc.constantFrom('a', 'é', ',', '""', '|') }).map((text) => `"${text}"`) },
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
        fc.constantFrom<Delimiter>(',', ',', ',', '|'),
        async (text, cuts, delimiter) => {
          const pieces = cutInto(text, cuts);
          const ours = await readPieces(new CsvRows(delimiter, options), pieces);
          expect(ours).toEqual(await readPieces(new CsvParser(delimiter, options, 1), pieces));
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
      await rows.parsePiece(Buffer.from(each));
      await parser.parsePiece(Buffer.from(each));
    }
    expect(rows.openLine).toBe(parser.openLine);
    expect(rows.openBytes > 0).toBe(parser.openBytes > 0);
  });

  it('are all rows of a file as most are', () => {
    const text = 'name,number\r\n\r\n"Doe, ""Jo""",+4917012\r\nÄ,\n"",""\n';
    const { rows, lines, blankLines, end, nextLine, isStopped } = cutPlainRows(text, {
      delimiter: ',',
      line: 5,
      maxLength: 100,
    });
    expect(rows).toEqual([
      ['name', 'number'],
      ['Doe, "Jo"', '+4917012'],
      ['Ä', ''],
      ['', ''],
    ]);
    expect({ lines, blankLines, end, nextLine, isStopped }).toEqual({
      lines: [5, 7, 8, 9],
      blankLines: 1,
      end: text.length,
      nextLine: 10,
      isStopped: false,
    });
  });

  it.each([
    ['a quote within a field', 'a"b,c\n'],
    ['text behind a closing quote', '"a"b,c\n'],
    ['a field of several lines', '"a\nb",c\n'],
    ['a line that ends with CR alone', 'a\rb,c\n'],
    ['a row beyond the limit', `${'a'.repeat(101)},c\n`],
  ])('end before %s', (_, line) => {
    const { rows, end, nextLine, isStopped } = cutPlainRows(`x,y\n\n${line}z,z\n`, {
      delimiter: ',',
      line: 1,
      maxLength: 100,
    });
    expect({ rows, end, nextLine, isStopped }).toEqual({ rows: [['x', 'y']], end: 4, nextLine: 2, isStopped: true });
  });
});
