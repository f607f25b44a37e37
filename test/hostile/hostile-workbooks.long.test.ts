import { describe, expect, it } from 'vitest';
import { aDirectory, aFile, anInput, readRefused, readWhole } from '../input/builders.js';
import { aSheet, aWorkbook, aZip, rowsOf, type WorkbookParts } from '../input/xlsx/a-workbook.js';
import { oneIn, stepsOf } from '../one-in.js';

const MB = 1024 * 1024;
const directory = aDirectory();
const book = (parts: WorkbookParts) => aFile(directory, aWorkbook(parts), 'people.xlsx');
const HEADER = rowsOf(['mobile']);
const SST = '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">';

describe('a workbook that unpacks to far more than its size', () => {
  const LONG: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    [
      'one cell',
      { 'xl/worksheets/sheet1.xml': aSheet({ rows: `${HEADER}<row><c t="str"><v>${'A'.repeat(17 * MB)}` }) },
    ],
    ['one shared text', { 'xl/sharedStrings.xml': `${SST}<si><t>${'A'.repeat(17 * MB)}</t></si></sst>` }],
    ['one tag', { 'xl/worksheets/sheet1.xml': `<worksheet a="${'A'.repeat(17 * MB)}"/>` }],
    ['one comment', { 'xl/worksheets/sheet1.xml': `<worksheet><!--${'A'.repeat(17 * MB)}--></worksheet>` }],
  ];
  it.each(oneIn(2, LONG))('in %s is refused before that is in memory', async (_what, parts) => {
    const file = book({ parts });

    expect((await readRefused(file))[0]).toContain('a text or a tag in it is longer than 16777216 bytes');
  });

  it('in its shared texts is refused before they fill the memory', async () => {
    const file = book({ parts: { 'xl/sharedStrings.xml': `${SST}${'<si/>'.repeat(9_000_000)}</sst>` } });

    expect(await readRefused(file)).toEqual([
      'people.xlsx: its texts take more than 268435456 bytes of memory, expected at most that many',
    ]);
  });

  it('in its rows is refused at the limit of a file', async () => {
    const file = book({ rows: HEADER + '<row><c><v>6591234567</v></c></row>'.repeat(100_000) });

    expect(await readRefused(file, anInput({ limits: { maxFileBytes: 2 * MB } }))).toEqual([
      'people.xlsx: it holds more than 2097152 bytes of content, expected at most that many',
    ]);
  });

  it('by naming one long text in many cells is refused at the limit of a file', async () => {
    const rows = HEADER + '<row><c t="s"><v>0</v></c></row>'.repeat(3000);
    const file = book({ rows, shared: [`<t>${'x'.repeat(32_000)}</t>`] });

    expect(await readRefused(file, anInput({ limits: { maxFileBytes: 8 * MB } }))).toEqual([
      'people.xlsx: its cells hold more than 8388608 characters, expected at most that many',
    ]);
  });

  it('in the columns of its rows costs what its cells cost', async () => {
    const row = '<row><c r="A@"><v>1</v></c><c r="XFD@" s="1"/></row>';
    const rows = Array.from({ length: 20_000 }, (_, at) => row.replaceAll('@', String(at + 2)));

    const { cells } = await readWhole(
      book({ rows: `<row r="1"><c r="A1" t="str"><v>mobile</v></c></row>${rows.join('')}` }),
    );

    expect(cells).toHaveLength(20_000);
  });

  it('in parts beside its sheet is refused', async () => {
    const styles = `<styleSheet>${'<xf/>'.repeat(4 * MB)}</styleSheet>`;
    expect((await readRefused(book({ rows: HEADER, parts: { 'xl/styles.xml': styles } })))[0]).toContain(
      'its part xl/styles.xml is too long',
    );
  });
});

describe('XML that must not hurt', () => {
  const sheet = (xml: string) => book({ parts: { 'xl/worksheets/sheet1.xml': xml } });

  it.each([
    [
      'entities that multiply',
      `<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><worksheet>&b;</worksheet>`,
      'it has a document type',
    ],
    [
      'an entity of another file',
      `<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><worksheet>&a;</worksheet>`,
      'it has a document type',
    ],
    ['an unknown entity', '<worksheet>&a;</worksheet>', 'undefined entity.'],
    ['tags nested without end', '<a>'.repeat(100_000), 'its tags are nested too deeply'],
    ['a tag that never closes', '<worksheet><sheetData>', 'unclosed tag: sheetData'],
    ['a tag that closes another', '<worksheet></row></worksheet>', 'unexpected close tag.'],
    ['two roots', '<worksheet/><worksheet/>', 'documents may contain only one root.'],
    ['another encoding', '<?xml version="1.0" encoding="ISO-8859-1"?><worksheet/>', 'it is ISO-8859-1, not UTF-8'],
    ['a control character', '<worksheet>\u0001</worksheet>', 'disallowed character.'],
    ['nothing', '', 'document must contain a root element.'],
  ])('%s: refused', async (_what, xml, reason) => {
    expect(await readRefused(sheet(xml))).toEqual([
      `people.xlsx: the workbook is damaged (xl/worksheets/sheet1.xml: ${reason}), expected a whole .xlsx file`,
    ]);
  });

  it('bytes that are not UTF-8: refused', async () => {
    const xml = Buffer.concat([Buffer.from('<worksheet>'), Buffer.from([0xe9]), Buffer.from('</worksheet>')]);
    const file = aFile(directory, aWorkbook({ parts: { 'xl/worksheets/sheet1.xml': xml } }), 'people.xlsx');
    expect((await readRefused(file))[0]).toContain('it is not UTF-8');
  });
});

describe('a ZIP file that must not hurt', () => {
  it('with a wrong checksum, or a wrong size, is refused', async () => {
    const bytes = aWorkbook({ rows: rowsOf(['mobile'], ['+6591234567']) });
    const name = Buffer.from('xl/worksheets/sheet1.xml');
    const entry = bytes.lastIndexOf(name) - 46;
    for (const field of [16, 24]) {
      const changed = Buffer.from(bytes);
      changed.writeUInt32LE(changed.readUInt32LE(entry + field) ^ 1, entry + field);
      const [problem] = await readRefused(aFile(directory, changed, 'people.xlsx'));
      expect(problem).toContain('people.xlsx: the workbook is damaged (');
    }
  });

  it('with a part twice, with ten thousand parts, or without any is refused', async () => {
    expect((await readRefused(book({ rows: HEADER, parts: { 'XL/Workbook.xml': '<a/>' } })))[0]).toContain('twice');
    const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`part${at}`, '']));
    expect((await readRefused(aFile(directory, aZip(many), 'people.xlsx')))[0]).toContain('10001 parts');
    expect((await readRefused(aFile(directory, aZip({}), 'people.xlsx')))[0]).toContain('it is not a workbook');
  });

  it('whose parts are encrypted is refused', async () => {
    const bytes = Buffer.from(aWorkbook({ rows: HEADER }));
    for (let at = bytes.indexOf('PK\u0001\u0002'); at !== -1; at = bytes.indexOf('PK\u0001\u0002', at + 1)) {
      bytes.writeUInt16LE(1, at + 8);
    }
    expect((await readRefused(aFile(directory, bytes, 'people.xlsx')))[0]).toMatch(/encrypted/);
  });

  it('of any bytes is refused, and never crashes', async () => {
    const bytes = aWorkbook({ rows: rowsOf(['mobile'], ['1'], ['2']) });
    const { first, step } = stepsOf(40);
    for (let at = 3 + first; at < bytes.length; at += step) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8((changed.readUInt8(at) + 101) % 256, at);
      const file = aFile(directory, changed, 'people.xlsx');
      // What is not looked at, such as a time, may differ; what is read is never other than what was written.
      const cells = await readWhole(file).then(
        (read) => read.cells,
        () => readRefused(file),
      );
      expect(typeof cells[0] === 'string' || JSON.stringify(cells) === '[["1"],["2"]]').toBe(true);
    }
  });
});
