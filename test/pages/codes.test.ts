import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { contactCodes } from '../../src/normalize/contact-fields.js';
import { numberCodes } from '../../src/normalize/number-codes.js';
import { OUTPUTS } from '../../src/report/rows.js';
import { listNames, ROOT, readPage, readRows, readSection } from './page.js';

const page = readPage('jobs/reference/outputs-and-codes.md');
const section = readSection(page, 'Rejection codes');

test('the reference lists every code that a row can be rejected, skipped or held with, and none that there is not', () => {
  const written = findWrittenCodes();
  const known = new Set([...Object.keys(numberCodes), ...Object.keys(contactCodes), ...written]);
  const listed = readRows(section).flatMap(([names = '']) => listNames(names));

  // The search in the sources is a search in text: these show that it still finds what each folder has.
  expect(written).toEqual(expect.arrayContaining(['too-few-fields', 'bad-json', 'missing-value', 'text-too-long']));
  expect(written).toEqual(
    expect.arrayContaining(['duplicate', 'suppressed', 'no-answer', 'run-ended', 'not-accounted-for']),
  );
  expect([...known].filter((code) => !section.includes(`\`${code}\``))).toEqual([]);
  expect(listed.filter((code) => /^[a-z0-9-]+$/.test(code) && !known.has(code))).toEqual(['1002']);
});

test('the reference names every output of a step', () => {
  const files = readRows(readSection(page, 'Outputs')).map(([file]) => file);

  expect(files).toEqual(expect.arrayContaining(OUTPUTS.map((output) => `\`<n>-<kind>.${output}.csv\``)));
});

/** Codes that the sources write where they refuse a row, skip it or hold it. */
function findWrittenCodes(): string[] {
  const files = ['read', 'normalize', 'template', 'plan', 'steps', 'run'].flatMap((folder) =>
    readdirSync(`${ROOT}src/${folder}`).map((name) => `${ROOT}src/${folder}/${name}`),
  );
  const CODE = /(?:\b(?:reject|refuse|refuseRow|fail|inDoubt)\(\s*|\bcode: )'([a-z0-9-]+)'/g;
  return [...new Set(files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(CODE)].map(([, code]) => code!)))];
}
