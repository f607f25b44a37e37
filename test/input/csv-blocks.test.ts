import { describe, expect, it } from 'vitest';
import { readRecords } from '../../src/input/records.js';
import { aDirectory, aFile, anInput } from './builders.js';

const directory = aDirectory();
const csv = (content: string) => aFile(directory, content);

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
