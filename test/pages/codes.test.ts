import { expect, test } from 'vitest';
import { describeFailure } from '../../src/command/failure.js';
import {
  INTERNAL_ERRORS,
  SERVICE_ERRORS,
  USER_ERRORS,
  UserError,
  type UserErrorCode,
} from '../../src/domain/errors.js';
import {
  ACTION_CODES,
  DOUBT_CODES,
  NOT_SENT_CODES,
  REJECTION_CODES,
  ROW_CODES,
  SKIP_CODES,
} from '../../src/domain/row-codes.js';
import { LISTED_OUTPUTS } from '../../src/report/outputs.js';
import { listNames, readPage, readRows, readSection } from './page.js';

const OF_ROWS = [REJECTION_CODES, SKIP_CODES, NOT_SENT_CODES, DOUBT_CODES];
const page = readPage('jobs/reference/outputs-and-codes.md');
const rowsUnder = (heading: string) => readRows(readSection(page, heading));
const codesUnder = (heading: string) => rowsUnder(heading).flatMap(([names = '']) => listNames(names));

const ofRows = [...codesUnder('Rejection codes'), ...codesUnder('Skipped, unprocessed and in doubt')];
const ofSteps = codesUnder('Steps without rows');

test('the reference documents no code of a row twice', () => {
  expect(ofRows.filter((code, at) => ofRows.indexOf(code) !== at)).toEqual([]);
});

test('the reference documents every code of a row and of a step, and none that does not exist', () => {
  const own = ofRows.filter((code) => /^[a-z][a-z0-9-]+$/.test(code));

  expect(own.toSorted()).toEqual([...new Set(OF_ROWS.flatMap((codes) => Object.keys(codes)))].toSorted());
  expect(ofRows.filter((code) => !Object.hasOwn(ROW_CODES, code))).toEqual(['http-<status>']);
  expect(ofSteps.toSorted()).toEqual(Object.keys(ACTION_CODES).toSorted());
});

test('the reference documents every error code of a command, once, with what it means and the exit code that it has', () => {
  const meanings = {
    ...USER_ERRORS,
    ...INTERNAL_ERRORS,
    ...SERVICE_ERRORS,
    'not-loaded': 'a part of Volley could not',
  };
  const rows = rowsUnder('Error codes').filter(([code = '']) => code.startsWith('`'));
  const documented = new Map(
    rows.map(([code = '', exit = '', meaning = '']) => [listNames(code)[0], { exit, meaning }]),
  );

  expect([...documented.keys()].toSorted()).toEqual(Object.keys(meanings).toSorted());
  expect(rows.length).toBe(documented.size);
  for (const [code, meaning] of Object.entries(meanings)) {
    expect(documented.get(code)?.meaning).toMatch(meaning);
    if (!isUserErrorCode(code)) continue;
    const expected = [code, `${describeFailure(new UserError(code, 'Cannot')).exitCode}`];
    expect([code, documented.get(code)?.exit]).toEqual(expected);
  }
});

test('the library page documents every code of a single call, once', () => {
  const documented = readRows(readSection(readPage('jobs/reference/library.md'), 'Single calls')).map(([code]) => code);

  expect(documented.toSorted()).toEqual(
    Object.keys(SERVICE_ERRORS)
      .map((code) => `\`${code}\``)
      .toSorted(),
  );
});

test('the reference names every output of a step', () => {
  const files = rowsUnder('Outputs').map(([file]) => file);

  expect(files).toEqual(expect.arrayContaining(LISTED_OUTPUTS.map((output) => `\`<n>-<kind>.${output}.csv\``)));
});

function isUserErrorCode(code: string): code is UserErrorCode {
  return Object.hasOwn(USER_ERRORS, code);
}
