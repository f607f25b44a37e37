import { expect, test } from 'vitest';
import { PLAIN_SCREEN } from '../../src/command/screen.js';
import { explainReason } from '../../src/report/account.js';
import { formatReasons, showOnPhone } from '../../src/texts/row-texts.js';
import { listNames, readPage, readRows, readSection } from '../pages/page.js';

const page = readPage('jobs/reference/outputs-and-codes.md');
const codes = ['Rejection codes', 'Skipped, unprocessed and in doubt']
  .flatMap((heading) => readRows(readSection(page, heading)))
  .flatMap(([names = '']) => listNames(names))
  .filter((code) => !code.includes('<'));

test('every code that the page lists has words, and what to do, that fit one line', () => {
  expect(codes).toEqual(expect.arrayContaining(['too-few-fields', 'REJECTED', '1100', '3014', 'EXPIRED', 'given-up']));
  const example = { file: 'a', path: '/a', line: 1, row: 1, field: '', value: '' };
  const lines = codes.map((code) =>
    formatReasons([explainReason({ code, rows: 1, said: '', example })], PLAIN_SCREEN, true).split('\n'),
  );
  expect(lines.filter(({ length }) => length !== 3)).toEqual([]);
});

test('the example is the row that is named, cut to one line', () => {
  const example = { file: 'a.csv', path: `/data/${'x'.repeat(90)}.csv`, line: 7, row: 6, field: 'mobile', value: '6' };
  const text = formatReasons(
    [explainReason({ code: 'too-short', rows: 12_345, said: '', example })],
    PLAIN_SCREEN,
    true,
  );
  expect(text).toMatch(/^ {1}12,345 {2}the number has too few digits \(too-short\): correct it\n {9}\/data\/x+…\n$/);
});

test('a message stands beside a bar, in lines that fit the screen, and 72 columns at most', () => {
  const show = (columns: number) => showOnPhone('word '.repeat(40).trim(), { ...PLAIN_SCREEN, columns }, 4);
  const widest = (columns: number) => 4 + Math.max(...show(columns).map((line) => line.length));
  expect([40, 80, 200].map(widest)).toEqual([35, 75, 75]);
  expect(showOnPhone('Hi\r\nAnn\u202e', PLAIN_SCREEN, 4)).toEqual(['│ Hi', '│ Ann\\u{202e}']);
});
