import { appendFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readRecords } from '../../../src/input/read-records.js';
import { digestInput } from '../../../src/input/text/byte-source.js';
import { aDirectory, aFile, anInput, readRefused, readWhole } from '../builders.js';

const directory = aDirectory();
const csv = (content: string | Uint8Array) => aFile(directory, content);

describe('CSV reader: limits', () => {
  it('refuses a field beyond maxFieldBytes, counted in bytes', async () => {
    const input = anInput({ limits: { maxFieldBytes: 6 } });
    expect((await readWhole(csv('a,b\n1,ééé\n'), input)).faults).toEqual([undefined]);
    expect(await readRefused(csv('a,b\n1,2\n1,éééé\n'), input)).toEqual([
      'people.csv:3: field 2 of the row that begins on this line is too long, expected at most 6 bytes',
    ]);
  });

  it('refuses a row beyond maxLineBytes, as a quote that never closes makes it', async () => {
    const input = anInput({ limits: { maxLineBytes: 5000 } });
    const [refusal] = await readRefused(csv(`a,b\n1,2\n3,"x\n${'4,5\n'.repeat(5000)}`), input);
    expect(refusal).toMatch(
      /^people\.csv:3: the row that begins on this line is too long, expected at most 5000 bytes/,
    );
  });

  it('refuses a row that is too long by delimiters alone', async () => {
    const input = anInput({ limits: { maxLineBytes: 100_000 } });
    const [refusal] = await readRefused(csv(`a,b\n1,2\n${','.repeat(1_000_000)}`), input);
    expect(refusal).toMatch(/^people\.csv:3: the row that begins on this line is too long/);
  });

  it('takes no number of blank lines for a long row', async () => {
    const input = anInput({ limits: { maxLineBytes: 100_000 } });
    expect((await readWhole(csv(`a,b\n${'\n'.repeat(1_000_000)}1,2\n`), input)).lines).toEqual([1_000_002]);
  });

  it('refuses a row of more fields than maxColumns', async () => {
    const [refusal] = await readRefused(csv('a,b\n1,2,3,4,5\n'), anInput({ limits: { maxColumns: 4 } }));
    // Rows of commas alone may fill a gigabyte, each slow to read.
    expect(await readRefused(csv('a,b\n,,,,\n'), anInput({ limits: { maxColumns: 4 } }))).toEqual([refusal]);
    expect(refusal).toMatch(/^people\.csv:2: the row that begins on this line is too long, .* and 4 fields$/);
  });

  it('refuses a file beyond maxFileBytes', async () => {
    expect(await readRefused(csv('a,b\n1,2\n'), anInput({ limits: { maxFileBytes: 7 } }))).toEqual([
      'people.csv: it holds more than 7 bytes of content, expected at most that many',
    ]);
  });
});

describe('CSV reader: digest', () => {
  it('is that of the bytes on disk, so that a change while reading shows', async () => {
    const file = csv(`a\n${'1\n'.repeat(400_000)}`);
    const before = await digestInput(file.path);
    const reader = readRecords(file, anInput());
    await reader.open();
    appendFileSync(file.path, '2\n');
    for await (const _batch of reader.blocks());
    expect(reader.sha256).not.toBe(before.sha256);
    expect(reader.sha256).toBe((await digestInput(file.path)).sha256);
  });

  it('is whole though the file is read in one piece with the header', async () => {
    const file = csv('a\n1\n');
    expect((await readWhole(file)).reader.sha256).toBe((await digestInput(file.path)).sha256);
  });

  it('refuses a file that is gone by the time it is read', async () => {
    expect(await readRefused({ path: `${directory}/gone.csv`, shown: 'gone.csv', format: 'csv' })).toEqual([
      'gone.csv: there is no such file, expected a file that can be read',
    ]);
  });
});

describe('CSV reader: blocks', () => {
  it('hands over at most 1,000 records at a time, and all of them', async () => {
    const reader = readRecords(csv(`a\n${'1\n'.repeat(2500)}`), anInput());
    const sizes: number[] = [];
    for await (const { rows } of reader.blocks()) sizes.push(rows.lines.length);
    expect(sizes).toEqual([1000, 1000, 500]);
  });

  it.each([
    ['cut here', 'x'.repeat(60_000), 70],
    ['read by csv-parse', `"${'x'.repeat(900_000)}\n"`, 5],
  ])('hands over fewer long ones, which are %s', async (_, cell, expected) => {
    const reader = readRecords(csv(`a,b\n${`${cell},1\n`.repeat(expected + 2)}`), anInput());
    const sizes: number[] = [];
    for await (const { rows } of reader.blocks()) sizes.push(rows.lines.length);
    expect(sizes).toEqual([expected, 2]);
  });
});
