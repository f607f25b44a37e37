import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { neutralizeCell, restoreCell } from '../../src/domain/formula-cell.js';
import { formatCsvLine } from '../../src/report/output-format.js';
import { runsOf } from '../one-in.js';

/** Blanks, what cannot be seen, and quotes, of each sort that may stand before a formula. */
const IN_FRONT = [
  ...[' ', '\n', '\u00a0', '\u3000', '\ufeff', '\u2028'],
  ...['\u200b', '\u200d', '\u2060', '\u00ad', '\u061c', '\u202e', '\u2066', '\u180e', '\u{e0001}', '\ufff9', '\u0600'],
  ...['\0', '\u001b', '\u0085', '\u034f', '\ufe0f', '\u3164', '\u115f'],
  ...["'", '"', '`', '´', '‘', '’', '‚', '‛', '“', '”', '„', '‟', '«', '»', '‹', '›', '〝', '＂', '＇'],
];
const SIGNS = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫'];

const SEPARATORS = [',', ';', '\t', '|', '\n', '\r', '\r\n'];
/** A delimiter, and where a reader splits that expects another. */
const PAIRS = [',', ';'].flatMap((delimiter) =>
  [',', ';', '\t', '|'].flatMap((other) => (other === delimiter ? [] : [[delimiter, other] as const])),
);

/** What stands behind each of them. */
const PARTS = /(?<=[;\t|\r\n])[^;\t|\r\n]+/g;

const aCell = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...IN_FRONT, ...SIGNS, ...SEPARATORS, 'a', '6', '5') }),
  fc
    .tuple(fc.string({ unit: fc.constantFrom(...IN_FRONT) }), fc.constantFrom(...SIGNS), fc.string({ unit: 'binary' }))
    .map((parts) => parts.join('')),
  fc.stringMatching(/^'?\+[0-9]{5,17}$/),
  fc.stringMatching(/^[a;|'\t]{0,3}\+[0-9]{7,9}[;|\t]'?\+?[0-9]{7,9}$/),
);

/** Without all that a spreadsheet, or who pastes from one, may pass over before it decides whether a cell is a formula. */
function strip(text: string): string {
  const characters = [...text];
  const first = characters.findIndex((character) => SIGNS.includes(character) || !isInFront(character));
  return first < 0 ? '' : characters.slice(first).join('');
}

function isInFront(character: string): boolean {
  return (
    IN_FRONT.includes(character) || /[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Pi}\p{Pf}]/u.test(character)
  );
}

describe('neutralizeCell', () => {
  it.each([
    '=1+1',
    '+cmd',
    '-2',
    '@SUM(A1)',
    '\tx',
    '\rx',
    '＝1',
    '＋1',
    '－1',
    '＠x',
    '  =1',
    '"=1',
    `' "=1`,
    '\u00a0=1',
    '\u200b=1',
    '\u2060+1',
    '\u00ad-1',
    '\u061c@x',
    '\ufeff\u200b =1',
    '﹦1',
    '﹢1',
    '﹣1',
    '﹫x',
    '“=1',
    '‘’=1',
    '„=1',
    '«=1',
    '＂=1',
    '\u200b+6591234567',
    '+65 9123 4567',
    '+0123456789',
    '+123456',
    '+1234567890123456',
  ])('puts an apostrophe before %j', (text) => {
    expect(neutralizeCell(text)).toBe(`'${text}`);
  });

  it.each([
    ['x;=1+1', "x;'=1+1"],
    ['x;=1+1;@SUM(A1)|-2', "x;'=1+1;'@SUM(A1)|'-2"],
    ['x| \u200b"=1', `x|' \u200b"=1`],
    ['x\t+cmd', "x\t'+cmd"],
    [';=1', ";'=1"],
    ['\n=1', "'\n'=1"],
    ['=1;=2', "'=1;'=2"],
    ["x;'=1", "x;''=1"],
    ['two\n=1\r\n＝2', "two\n'=1\r\n'＝2"],
    ['+6591234567;+6598765432', "'+6591234567;'+6598765432"],
    ['a; b|c\td', 'a; b|c\td'],
    ['a;;b=1', 'a;;b=1'],
  ])('puts one behind a separator too: %j', (text, written) => {
    expect(neutralizeCell(text)).toBe(written);
  });

  it.each([
    '',
    'Ann',
    "O'Neil",
    "'quoted'",
    '6591234567',
    '+6591234567',
    'a=1',
    '1-2',
    '"text"',
    '“text”',
    '\u200bAnn',
    '–1',
  ])('leaves %j as it is', (text) => {
    expect(neutralizeCell(text)).toBe(text);
  });

  it('leaves no cell that a spreadsheet would run', () => {
    fc.assert(
      fc.property(aCell, (text) => {
        const written = neutralizeCell(text);
        // In front of what it would run stands an apostrophe of Volley, and nothing else goes before it.
        const inner = text.replace(PARTS, (part) => (SIGNS.includes([...strip(part)][0] ?? '') ? `'${part}` : part));
        const mayRun = SIGNS.includes([...strip(inner)][0] ?? '') && !/^\+[1-9][0-9]{6,14}$/.test(inner);
        expect(written).toBe(mayRun ? `'${inner}` : inner);
      }),
      { numRuns: runsOf(5000) },
    );
  });

  it('leaves none for one that splits at another separator, whatever stands beside it', () => {
    const row = fc.array(aCell, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(row, fc.constantFrom(...PAIRS), (cells, [delimiter, separator]) => {
        // To it a quote in the middle of a field is text, and a line end within it ends the line.
        const [, ...fields] = formatCsvLine(cells, delimiter).split(new RegExp(`[\\r\\n${separator}]`));
        expect(fields.filter((field) => /^[\s"]*[=+\-@＝＋－＠]/.test(field))).toEqual([]);
      }),
      { numRuns: runsOf(2000) },
    );
  });
});

describe('restoreCell', () => {
  it('undoes neutralizeCell for every text and delimiter', () => {
    const property = fc.property(aCell, fc.constantFrom(',', ';'), (text, delimiter) => {
      expect(restoreCell(neutralizeCell(text, delimiter), delimiter)).toBe(text);
    });
    fc.assert(property, { numRuns: runsOf(5000) });
  });

  it.each(["'Ann", "'+6591234567", "''"])('leaves the apostrophe of %j, which is its own', (text) => {
    expect(restoreCell(text)).toBe(text);
  });
});
