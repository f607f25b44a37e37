/**
 * Writes the sample files, and what must become of every row of them: node samples/generate.mjs [directory]
 * Without a directory it renews the committed ones. Nothing in them belongs to a real person.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { countAccount, writeExpectedRows } from './generator/account.mjs';
import { buildSamples, SEED } from './generator/build.mjs';
import { writeWorkbook } from './generator/workbook.mjs';

const directory = process.argv[2] ?? import.meta.dirname;
const { files, rows } = buildSamples(SEED);
files.set('expected/account.json', `${JSON.stringify(countAccount(rows), undefined, 2)}\n`);
files.set('expected/rows.csv', writeExpectedRows(rows));
files.set('win-back.xlsx', writeWorkbook('Customers', readCsv('win-back.csv')));

for (const [path, bytes] of files) {
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), bytes);
}

/** The rows of a sample that is written by hand, without quotes. */
function readCsv(path) {
  const text = readFileSync(join(import.meta.dirname, path), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','));
}
