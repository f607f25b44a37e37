import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Input } from '../../../src/job/job.js';
import { aDirectory, aFile, anInput, readRefused, readWhole } from '../builders.js';
import { aSheet, aWorkbook, rowsOf, type WorkbookParts } from './a-workbook.js';

const directory = aDirectory();
const book = (parts: WorkbookParts) => aFile(directory, aWorkbook(parts), 'people.xlsx');
const read = (parts: WorkbookParts, input?: Input) => readWhole(book(parts), input);
const HEADER = '<row r="1"><c r="A1" t="str"><v>mobile</v></c><c r="B1" t="str"><v>name</v></c></row>';
const text = (name: string, value: string) => `<c r="${name}" t="str"><v>${value}</v></c>`;

describe('a workbook', () => {
  it('gives the rows below its header, with their numbers in the sheet', async () => {
    const rows = `<row r="2">${text('A2', 'mobile')}${text('B2', 'name')}</row><row r="3"/><row r="5">${text('A5', '+6591234567')}${text('B5', 'Ann')}</row>`;

    const { columns, cells, lines, records, notices, faults } = await read({ rows });

    expect(columns).toEqual(['mobile', 'name']);
    expect(cells).toEqual([['+6591234567', 'Ann']]);
    expect(lines).toEqual([5]);
    expect(records.map(({ row }) => row)).toEqual([1]);
    expect(faults).toEqual([undefined]);
    expect(notices).toEqual(['ignored 1 blank row']);
  });

  it('may have titles above its header, which are skipped, and said', async () => {
    const rows = rowsOf(['Customers of May'], [''], ['', 'as of today'], ['mobile', 'name'], ['+6591234567', 'Ann']);

    const { columns, cells, lines, notices } = await read({ rows });

    const expected = { columns: ['mobile', 'name'], cells: [['+6591234567', 'Ann']], lines: [5] };
    expect({ columns, cells, lines }).toEqual(expected);
    expect(notices).toEqual([
      'skipped 2 rows above the header: "Customers of May", "as of today"',
      'ignored 1 blank row',
    ]);
  });

  it('has the digest of its bytes', async () => {
    const file = book({ rows: rowsOf(['mobile'], ['+6591234567']) });

    const { reader } = await readWhole(file);

    expect(reader.sha256).toBe(createHash('sha256').update(readFileSync(file.path)).digest('hex'));
  });

  it('has texts of every kind: shared, inline, in runs, of a formula; without readings, with escapes decoded', async () => {
    const shared = [
      '<t>mobile</t>',
      '<t xml:space="preserve"> a &amp; b </t>',
      '<r><rPr><b/></rPr><t>Ann</t></r><r><t>-Marie</t></r>',
      '<t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh>',
      '<t>a_x000D_b_x005F_x0041_</t>',
    ];
    const row = (at: number, cell: string) => `<row r="${at}">${cell}</row>`;
    const rows = [
      row(1, '<c r="A1" t="s"><v>0</v></c>'),
      row(2, '<c r="A2" t="s"><v>1</v></c>'),
      row(3, '<c r="A3" t="s"><v>2</v></c>'),
      row(4, '<c r="A4" t="s"><v>3</v></c>'),
      row(5, '<c r="A5" t="s"><v>4</v></c>'),
      row(6, '<c r="A6" t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is></c>'),
      row(7, '<c r="A7" t="str"><f>B7&amp;"x"</f><v>cached</v></c>'),
    ];

    const { cells } = await read({ rows: rows.join(''), shared });

    expect(cells).toEqual([[' a & b '], ['Ann-Marie'], ['東京'], ['a\rb_x0041_'], ['inline'], ['cached']]);
  });

  it('has numbers as the sheet shows them, in full, and dates in ISO 8601', async () => {
    const rows = `${rowsOf(['phone', 'pin', 'day', 'built-in', 'yes'])}<row><c><v>6.591234567E9</v></c><c s="1"><v>42</v></c><c s="2"><v>46349</v></c><c s="3"><v>46349</v></c><c t="b"><v>1</v></c></row>`;

    const { cells } = await read({ rows, formats: ['0000', 'd mmm yyyy'] });

    expect(cells).toEqual([['6591234567', '0042', '2026-11-23', '2026-11-23', 'TRUE']]);
  });

  it('counts its days from 1904 if it says so', async () => {
    const rows = `${rowsOf(['day'])}<row><c s="1"><v>44887</v></c></row>`;

    expect((await read({ rows, formats: ['yyyy-mm-dd'], is1904: true })).cells).toEqual([['2026-11-23']]);
  });

  it('has blank cells where a row has none, and a row with something behind the header is rejected', async () => {
    const rows = `${HEADER}<row r="2">${text('B2', 'Ann')}</row><row r="3">${text('A3', '+6591234567')}${text('D3', 'note')}</row><row r="4">${text('A4', '1')}<c r="C4" s="1"/>${text('D4', ' ')}</row>`;

    const { cells, faults } = await read({ rows });

    expect(cells).toEqual([
      ['', 'Ann'],
      ['+6591234567', ''],
      ['1', ''],
    ]);
    expect(faults).toEqual([undefined, 'too-many-fields', undefined]);
  });

  it('rejects a row with an error, and one with a formula whose value is not stored', async () => {
    const rows = `${HEADER}<row r="2">${text('A2', '1')}<c r="B2" t="e"><f>1/0</f><v>#DIV/0!</v></c></row><row r="3"><c r="A3"><f>B3</f><v/></c>${text('B3', 'Ben')}</row><row r="4"><c r="A4" t="str"><f>""</f><v></v></c>${text('B4', 'Cy')}</row><row r="5"><c r="A5"><f>1+1</f><v>2</v></c></row>`;

    const { records } = await read({ rows });

    expect(records.map(({ fault }) => fault && [fault.field, fault.code, fault.reason])).toEqual([
      ['name', 'cell-error', 'the cell shows the error #DIV/0!'],
      ['mobile', 'no-formula-value', 'the cell has a formula without a stored value'],
      undefined,
      undefined,
    ]);
  });

  it('says how many rows and columns are hidden, and that cells are merged', async () => {
    const rows = `${HEADER}<row r="2" hidden="1">${text('A2', '1')}</row><row r="3" hidden="true"/><row r="4">${text('A4', '2')}</row>`;
    const before = '<cols><col min="2" max="16384" hidden="1"/></cols>';
    const behind = '<mergeCells count="1"><mergeCell ref="A4:A5"/></mergeCells>';

    const { cells, notices } = await read({ sheets: [{ rows, before, behind }] });

    expect(cells).toEqual([
      ['1', ''],
      ['2', ''],
    ]);
    expect(notices).toEqual([
      'ignored 1 blank row',
      'read 1 hidden row like the others',
      'read 1 hidden column like the others',
      'it has 1 merged cell: only the first cell of each holds its value',
    ]);
  });

  it('is read whatever prefix its tags have', async () => {
    const part = `<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><x:sheetData><x:row><x:c t="str"><x:v>mobile</x:v></x:c></x:row><x:row><x:c><x:v>1</x:v></x:c></x:row></x:sheetData></x:worksheet>`;

    expect((await read({ parts: { 'xl/worksheets/sheet1.xml': part } })).cells).toEqual([['1']]);
  });

  it('gives its rows in batches', async () => {
    const rows = rowsOf(['mobile'], ...Array.from({ length: 2500 }, (_, at) => [6591000000 + at]));

    const { cells, lines } = await read({ rows });

    expect(cells.map(([cell]) => cell)).toEqual(Array.from({ length: 2500 }, (_, at) => String(6591000000 + at)));
    expect(lines.at(-1)).toBe(2501);
  });
});

describe('the sheet', () => {
  const rows = rowsOf(['mobile'], ['1']);
  const empty = rowsOf([''], [' ']);

  it('is the only one with rows', async () => {
    const sheets = [
      { name: 'Notes', rows: '' },
      { name: 'People', rows },
      { name: 'Empty', rows: empty },
      { name: 'Lists', rows, state: 'hidden' as const },
    ];

    const { cells, notices } = await read({ sheets });

    expect(cells).toEqual([['1']]);
    expect(notices).toEqual(['the sheet is "People"', 'the hidden sheet "Lists" is not read']);
  });

  it('is the one that the job names, in any case', async () => {
    const sheets = [
      { name: 'A', rows },
      { name: 'B', rows: rowsOf(['mobile'], ['2']) },
    ];

    expect((await read({ sheets }, anInput({ sheet: 'b' }))).cells).toEqual([['2']]);
  });

  it('is read once, however many names its part has', async () => {
    const names = ['A', 'B'].map((name) => `<sheet name="${name}" sheetId="1" r:id="rId1"/>`).join('');
    const workbook = `<workbook xmlns:r="r"><sheets>${names}</sheets></workbook>`;
    expect((await read({ rows, parts: { 'xl/workbook.xml': workbook } })).cells).toHaveLength(1);
  });

  it.each([
    [
      [
        { name: 'A', rows },
        { name: 'B', rows },
      ],
      undefined,
      'people.xlsx: 2 sheets hold rows: "A", "B", expected one',
    ],
    [
      [
        { name: 'A', rows },
        { name: 'B', rows },
      ],
      'C',
      'people.xlsx: it has no sheet "C", expected one of "A", "B"',
    ],
    [
      [
        { name: 'A', rows: '' },
        { name: 'B', rows: empty },
      ],
      undefined,
      'people.xlsx: no sheet holds anything, expected at least a header',
    ],
    [
      [{ name: 'A', rows, state: 'veryHidden' as const }],
      undefined,
      'people.xlsx: only hidden sheets hold rows: "A", expected one',
    ],
    [[{ name: 'A', rows: empty }], 'A', 'people.xlsx: the sheet is empty, expected at least a header'],
  ])('is refused where it is not clear: %#', async (sheets, sheet, problem) => {
    expect(await readRefused(book({ sheets }), anInput(sheet === undefined ? {} : { sheet }))).toEqual([problem]);
  });
});

describe('a workbook that cannot be read', () => {
  it('is refused if it is cut off', async () => {
    const bytes = aWorkbook({ rows: rowsOf(['mobile'], ['1']) });
    for (const length of [bytes.length - 1, bytes.length >> 1, 40]) {
      const [problem] = await readRefused(aFile(directory, bytes.subarray(0, length), 'people.xlsx'));
      expect(problem).toContain('people.xlsx: the workbook is damaged (');
    }
  });

  it('is refused if a part is not what its checksum says, though it can be unpacked', async () => {
    const rows = rowsOf(['mobile'], ['+6591234567']);
    const bytes = aWorkbook({ rows });
    const sum = Buffer.alloc(4);
    sum.writeUInt32LE(crc32(aSheet({ rows })));
    for (let at = bytes.indexOf(sum); at !== -1; at = bytes.indexOf(sum))
      bytes.writeUInt32LE(~sum.readUInt32LE() >>> 0, at);

    expect(await readRefused(aFile(directory, bytes, 'people.xlsx'))).toEqual([
      'people.xlsx: the workbook is damaged (the checksum of its part xl/worksheets/sheet1.xml is wrong), expected a whole .xlsx file',
    ]);
  });

  it('is refused with the word of what it is', async () => {
    const ole = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
    const locked = Buffer.concat([ole, Buffer.alloc(1024), Buffer.from('EncryptedPackage', 'utf16le')]);

    expect(await readRefused(aFile(directory, locked, 'people.xlsx'))).toEqual([
      'people.xlsx: the workbook has a password, expected one without',
    ]);
    expect(await readRefused(aFile(directory, ole, 'people.xlsx'))).toEqual([
      'people.xlsx: it is a workbook of an older format (.xls), or one with a password; expected .xlsx',
    ]);
    expect(await readRefused(aFile(directory, 'mobile\n1\n', 'people.xlsx'))).toEqual([
      'people.xlsx: it is not a workbook, expected .xlsx, which is a ZIP file',
    ]);
    expect(await readRefused(aFile(directory, '', 'people.xlsx'))).toEqual([
      'people.xlsx: it is not a workbook, expected .xlsx, which is a ZIP file',
    ]);
  });

  it.each([
    ['no relations', { '_rels/.rels': undefined }, 'it lacks its part _rels/.rels'],
    ['no workbook', { 'xl/workbook.xml': undefined }, 'it lacks its part xl/workbook.xml'],
    ['no sheet', { 'xl/worksheets/sheet1.xml': undefined }, 'it lacks its part xl/worksheets/sheet1.xml'],
  ])('is refused if it has %s', async (_what, parts, reason) => {
    expect(await readRefused(book({ rows: HEADER, parts }))).toEqual([
      `people.xlsx: the workbook is damaged (${reason}), expected a whole .xlsx file`,
    ]);
  });

  it.each([
    ['rows out of order', '<row r="2"/><row r="2"/>', 'row 2 follows row 2'],
    ['a row of no number', '<row r="x"/>', 'row x follows row 1'],
    ['cells out of order', '<row r="2"><c r="B2"/><c r="A2"/></row>', 'a cell of row 2 stands in a wrong place'],
    ['a cell too far', '<row r="2"><c r="XFE2"/></row>', 'a cell of row 2 stands in a wrong place'],
    ['a cell of no name', '<row r="2"><c r="5"/></row>', 'a cell of row 2 stands in a wrong place'],
    ['a text that is not there', '<row r="2"><c t="s"><v>7</v></c></row>', 'row 2 names text 7 of 0'],
    ['a number that is none', '<row r="2"><c><v>abc</v></c></row>', 'a cell of row 2 holds a number that is none'],
    ['an unknown type', '<row r="2"><c t="q"><v>1</v></c></row>', 'a cell of row 2 has the unknown type "q"'],
  ])('is refused for %s', async (_what, rows, reason) => {
    expect(await readRefused(book({ rows: HEADER + rows }))).toEqual([
      `people.xlsx: the workbook is damaged (${reason}), expected a whole .xlsx file`,
    ]);
  });

  it('is refused for a name in the header that is not allowed, with its row', async () => {
    expect(await readRefused(book({ rows: `<row r="3">${text('A3', '__proto__')}</row>` }))).toEqual([
      'people.xlsx:3: column 1 is named __proto__, expected another name',
    ]);
  });

  it('rejects a row with a text beyond the limit, and refuses a row beyond it', async () => {
    const rows = rowsOf(['mobile'], ['x'.repeat(50)], ['y']);

    const expected = ['field-too-long', undefined];
    expect((await read({ rows }, anInput({ limits: { maxFieldBytes: 40 } }))).faults).toEqual(expected);
    expect(await readRefused(book({ rows }), anInput({ limits: { maxLineBytes: 40 } }))).toEqual([
      'people.xlsx:2: the row is too long, expected at most 40 characters',
    ]);
  });
});
