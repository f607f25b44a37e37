import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { formatReasons } from '../../src/commands/format-reasons.js';
import { hasWords } from '../../src/commands/reason-words.js';
import { PLAIN_SCREEN } from '../../src/commands/screen.js';

const PAGE = readFileSync(new URL('../../jobs/reference/outputs-and-codes.md', import.meta.url), 'utf8');
const section = /^## Rejection codes\n(.*)/ms.exec(PAGE)?.[1] ?? '';
/** Of a table's first column, and of the list of the service's own. */
const codes = [
  ...[...section.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)]),
  ...section.matchAll(/(?:· |code: )(\d{3,4})(?:, (\d{4}))?/g),
]
  .flatMap(([, ...names]) => names)
  .filter((name) => name !== undefined && !name.includes('<'));

test('every code that the page lists has words, and what to do, that fit one line', () => {
  expect(codes).toEqual(expect.arrayContaining(['too-few-fields', 'REJECTED', '1100', '3014', 'EXPIRED', 'given-up']));
  expect(codes.filter((code) => !hasWords(code))).toEqual([]);
  const example = { file: 'a', path: '/a', line: 1, row: 1, field: '', value: '' };
  const lines = codes.map((code) => formatReasons([{ code, rows: 1, said: '', example }], PLAIN_SCREEN).split('\n'));
  expect(lines.filter(({ length }) => length !== 3)).toEqual([]);
});

test('the example is the row that is named, cut to one line', () => {
  const example = { file: 'a.csv', path: `/data/${'x'.repeat(90)}.csv`, line: 7, row: 6, field: 'mobile', value: '6' };
  const text = formatReasons([{ code: 'too-short', rows: 12_345, said: '', example }], PLAIN_SCREEN);
  expect(text).toMatch(/^ {1}12,345 {2}the number has too few digits \(too-short\): correct it\n {9}\/data\/x+…\n$/);
});
