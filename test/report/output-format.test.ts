import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLineFormat, createOutputFile, formatCsvLine, type OutputForm } from '../../src/report/output-format.js';
import { outputCells, outputColumns } from '../../src/report/outputs.js';
import { nodeFiles } from '../../src/storage/files.js';
import { aDirectory, aFile, readWhole } from '../input/builders.js';
import { runsOf } from '../one-in.js';
import { aFolder } from '../plan/a-plan.js';

const directory = aDirectory();

describe('CSV line', () => {
  it('ends in a line feed, and leaves what is missing empty', () => {
    expect(formatCsvLine(['a', undefined, 7, ''])).toBe('a,,7,\n');
  });

  it('quotes what would be read otherwise: commas, quotes, line ends, blanks at either end', () => {
    expect(formatCsvLine(['a,b', 'say "hi"', 'two\nlines', 'cr\rlf', ' x', 'x\t'])).toBe(
      '"a,b","say ""hi""","two\nlines","cr\rlf"," x","x\t"\n',
    );
  });

  it('quotes for a reader that splits elsewhere too: semicolons, tabs, bars', () => {
    expect(formatCsvLine(['a;b', 'a\tb', 'a|b', 'x;=1+1', 'a b', '1.5', 'a:b'])).toBe(
      `"a;b","a\tb","a|b","x;'=1+1",a b,1.5,a:b\n`,
    );
  });

  it('neutralises what a spreadsheet would run, in the header too, save a number in E.164', () => {
    expect(formatCsvLine(['=1+1', '+6590000000', '-2', '@SUM(A1)', "'=1"])).toBe(
      "'=1+1,+6590000000,'-2,'@SUM(A1),''=1\n",
    );
    expect(createLineFormat({ format: 'csv' }, ['=cmd', 'a']).header).toBe("'=cmd,a\n");
  });
});

describe('CSV as Excel in German opens it', () => {
  const german = createLineFormat({ format: 'csv', csv: { delimiter: ';', bom: true } }, ['name', '=x']);

  it('begins with a byte order mark, and has semicolons', () => {
    expect(german.header).toBe("\ufeffname;'=x\n");
    expect(german.line(['Zoë', 7, undefined, 'a;b', 'a,b'])).toBe('Zoë;7;;"a;b";"a,b"\n');
  });

  it('neutralises for an Excel that splits at commas too', () => {
    expect(german.line(['x,=1+1', 'x;=1+1'])).toBe(`"x,'=1+1";"x;'=1+1"\n`);
  });
});

it('NDJSON line has numbers as numbers, and omits what is missing', () => {
  const format = createLineFormat({ format: 'ndjson' }, ['a', 'b', '_row']);
  expect(format.header).toBe('');
  expect(format.line(['x "y"', undefined, 7])).toBe('{"a":"x \\"y\\"","_row":7}\n');
});

/** All that a file can hold: NUL and halves of characters are refused when it is read. */
const text = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.string({ unit: fc.constantFrom(...'aé😀5\\ "\',;\t\n\r=+-@|＝\uFEFF'), maxLength: 12 }),
  )
  .filter((each) => !/[\0\p{Surrogate}]/u.test(each));
const name = text.map((each) => each.trim()).filter((each) => each !== '');

it('a workbook keeps what was written though its bytes are filled anew, as the writer of outputs does', async () => {
  const path = join(aFolder(), 'results.xlsx');
  const { header, line } = createLineFormat({ format: 'xlsx' }, ['name']);
  const file = await createOutputFile(nodeFiles, path, { format: 'xlsx' });
  await file.write(header);
  const names = Array.from({ length: 40 }, (_, index) => String.fromCharCode(65 + (index % 26)).repeat(2000));
  const bytes = Buffer.alloc(Buffer.byteLength(line(names.slice(0, 1))));
  for (const each of names) {
    bytes.write(line([each]));
    await file.write(bytes);
  }
  await file.finish();
  const read = await readWhole(aFile(directory, readFileSync(path), 'results.xlsx'));
  expect(read.cells).toEqual(names.map((each) => [each]));
});

describe('rejections that are read again', () => {
  const place = { line: 3, row: 2 };
  const standing = {
    ...({ output: 'rejections', stage: 'normalize', field: 'mobile', code: 'empty' } as const),
    ...{ reason: 'The cell is empty, "really".', id: '0123456789abcdefghjk-1', resultCells: [] },
  };
  const write = async (form: OutputForm, columns: string[], rows: (string | undefined)[][]) => {
    const lines = createLineFormat(form, outputColumns('rejections', [], columns).columns);
    const written = rows.map((cells) =>
      lines.line(outputCells(standing, [1, 'people.csv', place.line, place.row], cells)),
    );
    const path = join(aFolder(), `rejections.${form.format}`);
    const file = await createOutputFile(nodeFiles, path, form);
    await file.write(lines.header);
    for (const line of written) await file.write(line);
    await file.finish();
    const bytes = readFileSync(path);
    return aFile(directory, bytes, `rejections.${form.format}`);
  };

  const FORMS: OutputForm[] = [
    { format: 'csv' },
    { format: 'csv', csv: { delimiter: ';', bom: true } },
    { format: 'xlsx' },
    { format: 'ndjson' },
  ];
  const recordsOf = (columns: readonly string[], rows: readonly (readonly (string | undefined)[])[]) =>
    rows.map((cells) => Object.fromEntries(columns.map((column, at) => [column, cells[at]])));

  it('in every form give back the columns and the cells of the rows, whatever stands in them', async () => {
    const table = fc
      .uniqueArray(name, { selector: (each) => each.trim(), minLength: 1, maxLength: 5 })
      .chain((columns) =>
        fc.tuple(
          fc.constant(columns),
          fc.array(fc.array(text, { minLength: columns.length, maxLength: columns.length }), {
            minLength: 1,
            maxLength: 5,
          }),
        ),
      );
    await fc.assert(
      fc.asyncProperty(table, fc.constantFrom(...FORMS), async ([columns, rows], form) => {
        const read = await readWhole(await write(form, columns, rows));
        if (form.format !== 'ndjson') expect(read.columns).toEqual(columns);
        expect(recordsOf(read.columns, read.cells)).toEqual(recordsOf(columns, rows));
        expect(read.faults).toEqual(rows.map(() => undefined));
      }),
      { numRuns: runsOf(120) },
    );
  });

  it('from NDJSON lack what was missing', async () => {
    const read = await readWhole(
      await write(
        { format: 'ndjson' },
        ['a', 'b'],
        [
          ['=1', undefined],
          [undefined, ''],
        ],
      ),
    );
    expect(read.columns).toEqual(['a', 'b']);
    expect(read.cells.map((cells) => [cells[0], cells[1]])).toEqual([
      ['=1', undefined],
      [undefined, ''],
    ]);
  });

  it('from NDJSON leave out columns without a name: no key stands twice', async () => {
    const read = await readWhole(await write({ format: 'ndjson' }, ['mobile', '', ''], [['1', 'x', 'y']]));
    expect(read.faults).toEqual([undefined]);
    expect(read.cells).toEqual([['1']]);
  });
});
