import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../src/domain/errors.js';
import type { Delimiter } from '../../src/input/csv/cut-rows.js';
import { runsOf, stepsOf } from '../one-in.js';
import { aDirectory, aFile, anInput, readWhole } from './builders.js';

const directory = aDirectory();

const aDelimiter = fc.constantFrom<Delimiter>(',', ';', '\t', '|');
const aLineEnd = fc.constantFrom('\n', '\r\n', '\r');
const aCell = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'é', '😀', ' ', '"', "'", ',', ';', '\t', '|', '\n', '\r', '\r\n') }),
  fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', '')),
);
const aQuoting = fc.constantFrom('always', 'when needed');
const aBlankLine = fc.constantFrom('', ' ', '  ', '""', '" "', '\u00a0', '\u3000 \u2003');

interface Row {
  readonly cells: readonly string[];
  readonly quoting: string;
  readonly lineEnd: string;
  /** Blank lines that stand before the row. */
  readonly blanks: readonly string[];
}

const aTable = fc
  .integer({ min: 1, max: 4 })
  .chain((width) =>
    fc
      .array(
        fc.record<Row>({
          cells: fc
            .array(aCell, { minLength: width, maxLength: width })
            .filter((cells) => cells.join('').trim() !== ''),
          quoting: aQuoting,
          lineEnd: aLineEnd,
          blanks: fc.array(aBlankLine, { maxLength: 2 }),
        }),
        { maxLength: 12 },
      )
      .map((rows) => ({ width, rows })),
  );

function writeRow(row: Row, delimiter: string): string {
  const cells = row.cells.map((cell) => {
    const isNeeded = /["\r\n]/.test(cell) || cell.includes(delimiter);
    return isNeeded || row.quoting === 'always' ? `"${cell.replaceAll('"', '""')}"` : cell;
  });
  return cells.join(delimiter);
}

/** The lines of a text, counted in another way than the reader does. */
const linesOf = (text: string) => text.replaceAll('\r\n', '\n').replaceAll('\r', '\n').split('\n').length;

describe('CSV reader', () => {
  it('reads back unchanged every table, however it is written, each row with the line on which it begins', async () => {
    const property = fc.asyncProperty(
      aTable,
      aDelimiter,
      fc.boolean(),
      fc.boolean(),
      async (table, delimiter, hasMark, isPacked) => {
        const header = Array.from({ length: table.width }, (_, index) => `c${index}`).join(delimiter);
        let text = `${header}\n`;
        const lines: number[] = [];
        for (const row of table.rows) {
          for (const blank of row.blanks) text += `${blank}${row.lineEnd}`;
          const written = writeRow(row, delimiter);
          lines.push(linesOf(text));
          text += `${written}${row.lineEnd}`;
          // A CR before and an LF after would be one line end.
          if (row.lineEnd === '\r') text += ' \n';
        }
        const bytes = Buffer.from(hasMark ? `\uFEFF${text}` : text);
        const file = aFile(directory, isPacked ? gzipSync(bytes) : bytes);
        const result = await readWhole(file, anInput({ delimiter }));
        expect(result.cells).toEqual(table.rows.map((row) => row.cells));
        expect(result.lines).toEqual(lines);
        expect(result.faults.filter((fault) => fault !== undefined)).toEqual([]);
      },
    );
    await fc.assert(property, { numRuns: runsOf(120) });
  });

  it('reads the same at whatever place the pieces of the file end', async () => {
    // A row of 7 lines of the editor; prefixes of every length up to its own move it over the end of a piece.
    const row = '"a\r\nb""\r\n","\r",é\r\n"\n\n",x,\r';
    const repeated = row.repeat(12_000);
    expect(repeated.length).toBeGreaterThan(262_144);
    const { first, step } = stepsOf(8);
    for (let shift = first - 1; shift < row.length; shift += step) {
      const { cells, lines } = await readWhole(aFile(directory, `x,y,${'z'.repeat(shift + 1)}\n${repeated}`));
      expect(cells).toHaveLength(24_000);
      const wrong = cells.filter(([first, second, third], index) =>
        index % 2 === 0
          ? first !== 'a\r\nb"\r\n' || second !== '\r' || third !== 'é'
          : first !== '\n\n' || second !== 'x',
      );
      expect(wrong).toEqual([]);
      expect(lines.at(-1)).toBe(2 + 4 + 11_999 * 7);
    }
  });
});

/** What readers look for, and the beginnings of characters, marks and packed files. */
const A_BYTE = Buffer.from('\0\t\n\r "\',;{}:\\a1\x80\xc3\xa9\xef\xbb\xbf\xff\xfe\x1f\x8b', 'latin1');
const ENCODINGS = ['windows-1252', 'utf-16le', 'utf-16be', 'shift_jis', 'gbk', 'big5', 'gb18030', 'koi8-r'];

describe('every reader', () => {
  const aBytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.array(fc.constantFrom(...A_BYTE)).map((bytes) => Uint8Array.from(bytes)),
    fc.uint8Array({ maxLength: 100 }).map((bytes) => Uint8Array.from([0x1f, 0x8b, 8, 0, ...bytes])),
    fc.uint8Array({ maxLength: 100 }).map((bytes) => gzipSync(bytes)),
  );
  const anEncoding = fc.constantFrom(undefined, undefined, ...ENCODINGS);

  it('makes of any bytes records or a refusal, and nothing else', async () => {
    const property = fc.asyncProperty(
      aBytes,
      fc.constantFrom<'csv' | 'ndjson'>('csv', 'ndjson'),
      anEncoding,
      fc.constantFrom('people.csv', 'people.csv.gz'),
      async (bytes, format, encoding, name) => {
        const file = aFile(directory, bytes, name);
        const outcome = await readWhole(file, anInput({ format, encoding })).catch((error: unknown) => error);
        if (outcome instanceof UserError) {
          expect(outcome.code).toBe('bad-input');
          expect(outcome.problems.length).toBeGreaterThan(0);
          return;
        }
        const { columns, records } = outcome as Awaited<ReturnType<typeof readWhole>>;
        for (const [index, record] of records.entries()) {
          expect(record.row).toBe(index + 1);
          expect(record.cells.length).toBeLessThanOrEqual(columns.length);
        }
      },
    );
    await fc.assert(property, { numRuns: runsOf(400) });
  });
});
