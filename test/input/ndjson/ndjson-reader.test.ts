import { describe, expect, it } from 'vitest';
import { readRecords } from '../../../src/input/read-records.js';
import { readBatches } from '../../../src/input/record-reader.js';
import { digestInput } from '../../../src/input/text/byte-source.js';
import { aDirectory, aFile, aGzip, anInput, readRefused, readWhole } from '../builders.js';

const directory = aDirectory();
const ndjson = (content: string | Uint8Array) => aFile(directory, content, 'people.ndjson');

// Numbers stay as they are written: json-row.test.ts.
describe('NDJSON reader: rows', () => {
  it('gives strings as they are, numbers and booleans as text, nested values as JSON, null as nothing', async () => {
    const line = { id: 7, ratio: 0.5, mobile: ' +65 ', vip: true, none: null, tags: ['a', { b: 1 }], empty: '' };
    const { columns, cells } = await readWhole(ndjson(`${JSON.stringify(line)}\n`));
    expect(columns).toEqual(['id', 'ratio', 'mobile', 'vip', 'none', 'tags', 'empty']);
    expect(cells).toEqual([['7', '0.5', ' +65 ', 'true', undefined, '["a",{"b":1}]', '']]);
  });

  it('lets the columns grow in the order in which keys are met', async () => {
    const { columns, cells } = await readWhole(ndjson('{"a":"1","b":"2"}\n{"c":"3","a":"4"}\n'));
    expect(columns).toEqual(['a', 'b', 'c']);
    expect(cells).toEqual([
      ['1', '2', undefined],
      ['4', undefined, '3'],
    ]);
  });

  it('takes LF and CRLF, a mark, a last line without an end, and passes over blank lines', async () => {
    const { lines, records, notices } = await readWhole(ndjson('\uFEFF{"a":"1"}\r\n\r\n \u00a0\n{"a":"2"}\n{"a":"3"}'));
    expect(lines).toEqual([1, 4, 5]);
    expect(records.map((record) => record.row)).toEqual([1, 2, 3]);
    expect(notices).toContain('ignored 2 blank lines');
  });

  it('is read from gzip, with the digest of the bytes on disk', async () => {
    const file = aFile(directory, aGzip('{"a":"1"}\n'), 'people.ndjson.gz');
    const { cells, reader } = await readWhole(file);
    expect(cells).toEqual([['1']]);
    expect(reader.sha256).toBe((await digestInput(file.path)).sha256);
  });

  it('is what the job says it is, whatever the name', async () => {
    const file = aFile(directory, '{"a":"1"}\n', 'people.txt');
    expect((await readWhole(file, anInput({ format: 'ndjson' }))).cells).toEqual([['1']]);
  });

  it('reads a file of many pieces in order, 1,000 records at a time', async () => {
    const rows = Array.from({ length: 20_500 }, (_, index) => JSON.stringify({ id: index, text: 'ä'.repeat(20) }));
    const reader = readRecords(ndjson(rows.join('\n')), anInput());
    const ids: unknown[] = [];
    const sizes = new Set<number>();
    for await (const batch of readBatches(reader)) {
      sizes.add(batch.length);
      for (const { cells, line } of batch) ids.push(Number(cells[0]) === line - 1);
    }
    expect(ids).toEqual(rows.map(() => true));
    expect([...sizes]).toEqual([1000, 500]);
  });

  it('reads a file of blank lines alone as no rows, and refuses an empty one', async () => {
    expect((await readWhole(ndjson('\n\n'))).notices).toContain('it holds no rows');
    expect(await readRefused(ndjson(''))).toEqual(['people.ndjson: the file is empty, expected rows']);
  });

  it.each([
    ['a list on one line', '[{"a":"1"}]', 'the line is an array, expected an object'],
    [
      'an object over several lines',
      '\n{\n"a": 1\n}\n',
      'the line is not valid JSON (from character 2 on), expected one object',
    ],
  ])('refuses %s, of which no line can be read', async (_, text, said) => {
    const line = text.startsWith('\n') ? 2 : 1;
    expect(await readRefused(ndjson(text))).toEqual([`people.ndjson:${line}: ${said}`]);
  });

  it('ignores the keys that Volley added when it reads its own output', async () => {
    const own = '{"mobile":"1","note":"=1","_step":1,"_file":"a","_line":2,"_row":1,"_reason":"x","_text":"{"}';
    const { columns, cells, notices } = await readWhole(ndjson(`${own}\n`));
    expect(columns).toEqual(['mobile', 'note']);
    expect(cells).toEqual([['1', '=1']]);
    expect(notices).toContain('ignored the keys added by Volley');
  });
});

describe('NDJSON reader: rows at fault', () => {
  it('keep the text of their line in the column _text, beside the good rows', async () => {
    const { columns, records } = await readWhole(ndjson('{"a":"1"}\n{"a":"2",}\n{"a":"3"}\n'));
    expect(columns).toEqual(['a', '_text']);
    expect(records).toEqual([
      { cells: ['1', undefined], line: 1, row: 1, fault: undefined },
      {
        cells: [undefined, '{"a":"2",}'],
        line: 2,
        row: 2,
        fault: {
          stage: 'read',
          field: '',
          code: 'bad-json',
          reason: 'the line is not valid JSON (from character 10 on), expected one object',
        },
      },
      { cells: ['3', undefined], line: 3, row: 3, fault: undefined },
    ]);
  });

  it('name the field that is too long', async () => {
    const input = anInput({ limits: { maxFieldBytes: 5 } });
    const { records } = await readWhole(ndjson('{"a":"12345"}\n{"b":"ééé"}\n'), input);
    expect(records.map((record) => [record.fault?.code, record.fault?.field])).toEqual([
      [undefined, undefined],
      ['field-too-long', 'b'],
    ]);
    expect(records[1]?.cells).toEqual([undefined, '{"b":"ééé"}']);
  });
});

describe('NDJSON reader: limits', () => {
  it.each(['\n', '\r\n', ''])('refuses a line beyond maxLineBytes with its number (line end %j)', async (end) => {
    const input = anInput({ limits: { maxLineBytes: 20 } });
    const line = (length: number) => `{"a":"${'x'.repeat(length - 8)}"}${end}`;
    const before = end === '' ? '' : `{}${end}`;
    expect((await readWhole(ndjson(before + line(20)), input)).faults.at(-1)).toBeUndefined();
    expect(await readRefused(ndjson(before + line(21)), input)).toEqual([
      `people.ndjson:${end === '' ? 1 : 2}: the line is too long, expected at most 20 bytes`,
    ]);
  });

  it('refuses a line that spans many pieces', async () => {
    const input = anInput({ limits: { maxLineBytes: 1_000_000 } });
    expect(await readRefused(ndjson(`{}\n{"a":"${'x'.repeat(2_000_000)}"}\n`), input)).toEqual([
      'people.ndjson:2: the line is too long, expected at most 1000000 bytes',
    ]);
    const long = 'x'.repeat(900_000);
    expect((await readWhole(ndjson(`{}\n{"a":"${long}"}\n`), input)).cells[1]).toEqual([long]);
  });

  it('refuses more different keys than maxColumns', async () => {
    const input = anInput({ limits: { maxColumns: 2 } });
    expect(await readRefused(ndjson('{"a":1}\n{"b":1}\n{"c":1}\n'), input)).toEqual([
      'people.ndjson:3: the lines up to this one have more than 2 different keys, expected at most that many',
    ]);
  });
});
