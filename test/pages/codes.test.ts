import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describeFailure } from '../../src/commands/terminal/print-error.js';
import { contactCodes } from '../../src/domain/contact-fields.js';
import { UserError, type UserErrorCode } from '../../src/domain/errors.js';
import { numberCodes } from '../../src/normalize/number/number-codes.js';
import { OUTPUTS } from '../../src/report/rows.js';
import { listNames, ROOT, readPage, readRows, readSection } from './page.js';

const ERRORS = readFileSync(`${ROOT}src/domain/errors.ts`, 'utf8');
const page = readPage('jobs/reference/outputs-and-codes.md');
const rowsUnder = (heading: string) => readRows(readSection(page, heading));
const codesUnder = (heading: string) => rowsUnder(heading).flatMap(([names = '']) => listNames(names));

const ofRows = [...codesUnder('Rejection codes'), ...codesUnder('Skipped, unprocessed and in doubt')];
const ofSteps = codesUnder('Steps without rows');

test('the reference documents no code of a row twice', () => {
  expect(ofRows.filter((code, at) => ofRows.indexOf(code) !== at)).toEqual([]);
});

test('the reference documents every code that a row can be rejected, skipped or held with, and none that does not exist', () => {
  const written = findWrittenCodes();
  const known = new Set([...Object.keys(numberCodes), ...Object.keys(contactCodes), ...written]);

  // The search in the sources is a search in text: these show that it still finds what each folder has.
  expect(written).toEqual(expect.arrayContaining(['too-few-fields', 'bad-json', 'missing-value', 'text-too-long']));
  expect(written).toEqual(
    expect.arrayContaining(['duplicate', 'suppressed', 'no-answer', 'run-ended', 'not-accounted-for']),
  );
  expect([...known].filter((code) => ![...ofRows, ...ofSteps].includes(code))).toEqual([]);
  expect(ofRows.filter((code) => /^[a-z-]+$/.test(code) && !known.has(code))).toEqual([]);
});

test('the reference documents every error code of a command, once, with the exit code that it has', () => {
  const ofCommands = [...listErrorCodes('UserErrorCode'), ...listErrorCodes('InternalErrorCode')];
  const ofService = listErrorCodes('ServiceErrorCode').filter((code) => !['in-doubt', 'bad-answer'].includes(code));
  const rows = rowsUnder('Error codes').filter(([code = '']) => code.startsWith('`'));
  const documented = rows.map(([code = '']) => listNames(code)[0]);

  expect(ofCommands.length).toBeGreaterThan(12);
  expect(documented.toSorted()).toEqual([...ofCommands, ...ofService, 'not-loaded'].toSorted());
  for (const [cell = '', exit] of rows) {
    const [code = ''] = listNames(cell);
    if (!isUserErrorCode(code)) continue;
    expect([code, Number(exit)]).toEqual([code, describeFailure(new UserError(code, 'Cannot')).exitCode]);
  }
});

test('the library page documents every code of a single call, once', () => {
  const documented = readRows(readSection(readPage('jobs/reference/library.md'), 'Single calls')).map(([code]) => code);

  expect(documented.toSorted()).toEqual(
    listErrorCodes('ServiceErrorCode')
      .map((code) => `\`${code}\``)
      .toSorted(),
  );
});

test('the reference names every output of a step', () => {
  const files = rowsUnder('Outputs').map(([file]) => file);

  expect(files).toEqual(expect.arrayContaining(OUTPUTS.map((output) => `\`<n>-<kind>.${output}.csv\``)));
});

/** The members of a union type of errors.ts. */
function listErrorCodes(type: string): string[] {
  const [, union = ''] = new RegExp(`export type ${type} =(.*?);\n`, 's').exec(ERRORS) ?? [];
  return [...union.matchAll(/\| '([a-z-]+)'|= '([a-z-]+)'|^ '([a-z-]+)'/gm)].map(([, a, b, c]) => a ?? b ?? c ?? '');
}

function isUserErrorCode(code: string): code is UserErrorCode {
  return listErrorCodes('UserErrorCode').includes(code);
}

/** Codes that the sources write where they refuse a row, skip it or hold it. */
function findWrittenCodes(): string[] {
  const files = [
    'input',
    'filter',
    'normalize',
    'template',
    'plan',
    'kinds',
    'run',
    'settle',
    'registry',
    'retry',
  ].flatMap((folder) =>
    readdirSync(`${ROOT}src/${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${ROOT}src/${folder}/${name}`),
  );
  const CODE = /(?:\b(?:reject|refuse|refuseRow|fail|inDoubt)\(\s*|\bcode: )'([a-z0-9-]+)'/g;
  return [...new Set(files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(CODE)].map(([, code]) => code!)))];
}
