import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findFree, findUploaded, readFileName, readSize, takeSlice } from '../../src/console/uploads.js';
import { nodeFiles } from '../../src/storage/files.js';
import { aFolder } from '../plan/a-plan.js';

test.each([
  ['people.csv', 'people.csv'],
  ['C:\\Users\\Anna\\people.xlsx', 'people.xlsx'],
  ['../../../etc/people.csv', 'people.csv'],
  ['Kunden\u202Egnp.csv', 'Kundengnp.csv'],
  ['Größe 1 (2).ndjson.gz', 'Größe 1 (2).ndjson.gz'],
  ['.csv', undefined],
  ['.people.csv', undefined],
  ['job.yaml', undefined],
  ['people.csv.exe', undefined],
  [`${'x'.repeat(250)}.csv`, undefined],
  ['', undefined],
  [undefined, undefined],
])('a file that is called %j is %j here', (written, name) => {
  expect(readFileName(written)).toBe(name);
});

test('a size is a whole number of bytes', () => {
  const expected = [12, ...Array(6).fill(undefined)];
  expect(['12', '0', '-1', '1e3', '999999999999', '', undefined].map(readSize)).toEqual(expected);
});

test('slices make the file whatever comes twice, in two at once, or from elsewhere', async () => {
  const directory = aFolder();
  const bytes = Buffer.from('Name,Mobile\nAnna,+6591234567\n');
  const upload = { name: 'people.csv', bytes: bytes.length };
  const take = (offset: number, end: number) =>
    takeSlice(nodeFiles, directory, { upload, offset, slice: bytes.subarray(offset, end) });

  expect(await findUploaded(nodeFiles, directory, upload)).toBe(0);
  await Promise.all([take(0, 10), take(0, 10)]);
  expect(await take(0, 10)).toEqual({ has: 10 });
  expect(await take(20, 29)).toEqual({ has: 10 });
  expect(await takeSlice(nodeFiles, directory, { upload, offset: 10, slice: Buffer.alloc(100) })).toEqual({ has: 10 });
  expect(readdirSync(directory)).toEqual([`.people.csv.${bytes.length}.part`]);
  expect(await take(10, bytes.length)).toEqual({ has: bytes.length, name: 'people.csv' });
  expect(readdirSync(directory)).toEqual(['people.csv']);
  expect(readFileSync(join(directory, 'people.csv'))).toEqual(bytes);
  expect(await take(0, bytes.length)).toEqual({ has: bytes.length, name: 'people-2.csv' });
  expect(await findFree(nodeFiles, join(directory, 'people.csv'))).toBe(join(directory, 'people-3.csv'));
});
