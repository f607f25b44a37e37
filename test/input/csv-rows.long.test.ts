import { CsvError, parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteCells } from '../../src/domain/bytes/row-block.js';
import { RowWriter } from '../../src/domain/bytes/row-writer.js';
import { UserError } from '../../src/domain/errors.js';
import { isBlankRow } from '../../src/input/csv/csv-reader.js';
import { CsvRows, refuseLongField, refuseLongRow, refuseRow } from '../../src/input/csv/csv-rows.js';
import type { Delimiter } from '../../src/input/csv/cut-rows.js';
import type { ReadLimits } from '../../src/job/job.js';
import { runsOf } from '../one-in.js';
import { anInput } from './builders.js';

const { limits } = anInput();

type ReadRow = Readonly<{ row: readonly string[]; line: number | undefined; isSpanning: boolean }>;

const place = (line: number) => `people.csv:${line}`;
const countLines = (bytes: Buffer) => bytes.toString('latin1').match(/\r\n|\r|\n/g)?.length ?? 0;

/** What csv-parse says of a whole text: rows with their lines, or what is wrong, and where. */
function readWhole(text: string, delimiter: Delimiter, { maxFieldBytes, maxLineBytes }: ReadLimits = limits) {
  const whole = Buffer.from(text);
  const options = {
    ...{ columns: false, delimiter, record_delimiter: ['\r\n', '\n', '\r'] },
    ...{ relax_column_count: true, skip_empty_lines: true, info: true },
  };
  const read: ReadRow[] = [];
  let failure: CsvError | undefined;
  let parsed: { readonly record: string[]; readonly info: { readonly bytes: number } }[] = [];
  try {
    parsed = parse(whole, options) as unknown as typeof parsed;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    failure = error;
    const { records } = error as unknown as { readonly records: number };
    if (records > 0) parsed = parse(whole, { ...options, to: records }) as unknown as typeof parsed;
  }
  let end = 0;
  let blankLines = 0;
  let lines = 0;
  const begin = () => {
    const start = end + (/^[\r\n]*/.exec(whole.toString('latin1', end))?.[0].length ?? 0);
    const line = 1 + countLines(whole.subarray(0, start));
    return { start, line };
  };
  for (const { record, info } of parsed) {
    const { start, line } = begin();
    // Where the file ends, all of the last line end is counted, elsewhere its first byte.
    end = info.bytes - (/(\r\n|\r|\n)?$/.exec(whole.toString('latin1', 0, info.bytes))?.[0].length ?? 0);
    blankLines += line - 1 - lines;
    const within = countLines(whole.subarray(start, end));
    lines = line + within;
    const where = place(line);
    const [lineEnd = ''] = /^(?:\r\n|\r(?!$)|\n)?/.exec(whole.toString('latin1', end)) ?? [];
    // Where none ends the file, a LF is put behind it.
    const lineEndBytes = lineEnd === '' ? whole.length - end + 1 : lineEnd.length;
    if (end + lineEndBytes - start > maxLineBytes + 2)
      return { read, ...tellError(refuseLongRow(where, limitsOf(maxFieldBytes, maxLineBytes))) };
    const long = record.findIndex((cell) => Buffer.byteLength(cell) > maxFieldBytes);
    if (long !== -1) return { read, ...tellError(refuseLongField(where, long, limitsOf(maxFieldBytes, maxLineBytes))) };
    read.push({ row: record, line, isSpanning: within > 0 });
  }
  if (failure === undefined) return { read, blankLines };
  const { start, line } = begin();
  const isLong = whole.length - start > maxLineBytes + 2;
  const tooLong = tellError(refuseLongRow(place(line), limitsOf(maxFieldBytes, maxLineBytes))).problems;
  const { problems } = tellError(refuseRow(failure, place(line)));
  // By its pieces, whether the fault is seen before the length.
  if (!isLong) return { read, problems };
  return { read, problems: failure.code === 'CSV_QUOTE_NOT_CLOSED' ? tooLong : expect.toBeOneOf([problems, tooLong]) };
}

const limitsOf = (maxFieldBytes: number, maxLineBytes: number): ReadLimits => ({
  ...limits,
  maxFieldBytes,
  maxLineBytes,
});

/** The same of its pieces. */
function readPieces(pieces: readonly string[], rows: CsvRows) {
  const read: ReadRow[] = [];
  try {
    for (const piece of [...pieces, undefined]) {
      rows.give(piece === undefined ? undefined : Buffer.from(piece));
      takeRows(rows, read);
    }
  } catch (error) {
    return { read, ...tellError(error) };
  }
  return { read, blankLines: rows.blankLines };
}

/** Those with two cells are kept, as if the file had two columns. */
function takeRows(rows: CsvRows, read: ReadRow[] = []): ReadRow[] {
  const writer = new RowWriter(2);
  while (rows.next(writer)) {
    const { line, isSpanning, cells } = rows;
    const isPlain = cells === undefined && writer.isPlain;
    const row = cells ?? writer.takeBack();
    read.push({ row, line, isSpanning });
    expect(isPlain && (row.length !== 2 || isBlankRow(row))).toBe(false);
    if (!isPlain) continue;
    writer.keep(line, 1);
    expectRow(writer, row);
  }
  return read;
}

function expectRow(writer: RowWriter, row: readonly string[]): void {
  const cells = new ByteCells(writer.take());
  expect(cells.texts).toEqual(row);
  expect(row.map((_, column) => cells.cell(column))).toEqual(row);
  const json = row.map((cell) => JSON.stringify(cell).slice(1, -1));
  const bytes = Buffer.from(cells.bytes);
  expect(row.map((_, column) => bytes.toString('utf8', cells.startOf(column), cells.endOf(column)))).toEqual(json);
  expect(bytes.toString('utf8', cells.start, cells.end)).toBe(JSON.stringify(row));
}

function tellError(error: unknown): { problems: unknown } {
  if (!(error instanceof UserError)) throw error;
  return { problems: [error.message, error.problems] };
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
    ({ options }) => {
      const property = fc.property(
        aText,
        aCut,
        fc.constantFrom<Delimiter>(',', ',', ',', '|', '\t'),
        (text, cuts, delimiter) => {
          const rows = new CsvRows(delimiter, options, { place });
          expect(readPieces(cutInto(text, cuts), rows)).toEqual(readWhole(text, delimiter, options));
        },
      );
      fc.assert(property, { numRuns: runsOf(3000) });
    },
  );

  it.each([
    ['a row without an end', 'a,b\n', 'x'.repeat(1000), ['people.csv:2: the row that begins on this line is too long']],
    ['a quote that never closes', 'a,b\n"', 'x\n', ['people.csv:2: the row that begins on this line is too long']],
    ['blank lines without an end', 'a,b\n', '\r\n'.repeat(500), []],
  ])('are not kept back for %s', (_, first, piece, refusals) => {
    const rows = new CsvRows(',', { ...limits, maxLineBytes: 10_000 }, { place });
    const said: string[] = [];
    rows.give(Buffer.from(first));
    takeRows(rows);
    for (let given = 0; given < 100_000 && said.length === 0; given += piece.length) {
      rows.give(Buffer.from(piece));
      try {
        takeRows(rows);
      } catch (error) {
        said.push((error as Error).message);
        expect(given).toBeLessThan(20_000);
      }
    }
    expect(said).toEqual(refusals.map((each) => expect.stringContaining(each)));
  });

  it('are all rows of a file as most are', () => {
    const text = 'name,number\r\n\r\n"Doe, ""Jo""",+4917012\r\nÄ\t,\n"",""\n"a\nb",c\nd,e\n';
    const rows = new CsvRows(',', limits, { place });
    rows.give(Buffer.from(text));
    expect(takeRows(rows).map(({ row, line, isSpanning }) => [line, ...row, isSpanning])).toEqual([
      [1, 'name', 'number', false],
      [3, 'Doe, "Jo"', '+4917012', false],
      [4, 'Ä\t', '', false],
      [5, '', '', false],
      [6, 'a\nb', 'c', true],
      [8, 'd', 'e', false],
    ]);
    expect(rows.blankLines).toBe(1);
  });

  it.each([
    ['a row that is longer than what is cut', `${'a'.repeat(70_000)},c\n`, true],
    ['a field of several lines', '"a\nb",c\n', false],
    ['a line that ends with CR alone', 'a\rb,c\n', false],
    ['a quoted field', '"a",c\n', false],
  ])('are left to csv-parse where they are long, and the next one is cut again: %s', (_, line, isLeft) => {
    const rows = new CsvRows(',', limits, { place });
    const writer = new RowWriter(2);
    rows.give(Buffer.from(`x,y\n${line}z,z\n`));
    const ways: boolean[] = [];
    while (rows.next(writer)) ways.push(rows.cells !== undefined);
    expect([ways.at(0), ways.at(1), ways.at(-1)]).toEqual([false, isLeft, false]);
  });
});
