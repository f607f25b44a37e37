import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { neutralizeCell, restoreCell } from '../src/formula.js';

/** Blanks, what cannot be seen, and quotes, of each sort that may stand before a formula. */
const IN_FRONT = [
  ...[' ', '\n', '\u00a0', '\u3000', '\ufeff', '\u2028'],
  ...['\u200b', '\u200d', '\u2060', '\u00ad', '\u061c', '\u202e', '\u2066', '\u180e', '\u{e0001}', '\ufff9', '\u0600'],
  ...['\0', '\u001b', '\u0085', '\u034f', '\ufe0f', '\u3164', '\u115f'],
  ...["'", '"', '`', '´', '‘', '’', '‚', '‛', '“', '”', '„', '‟', '«', '»', '‹', '›', '〝', '＂', '＇'],
];
const SIGNS = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫'];

const aCell = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...IN_FRONT, ...SIGNS, 'a', '6', '5') }),
  fc
    .tuple(fc.string({ unit: fc.constantFrom(...IN_FRONT) }), fc.constantFrom(...SIGNS), fc.string({ unit: 'binary' }))
    .map((parts) => parts.join('')),
  fc.stringMatching(/^'?\+[0-9]{5,17}$/),
);

/** Without all that a spreadsheet, or who pastes from one, may pass over before it decides whether a cell is a formula. */
function strip(text: string): string {
  const characters = [...text];
  const first = characters.findIndex((character) => SIGNS.includes(character) || !isInFront(character));
  return first < 0 ? '' : characters.slice(first).join('');
}

function isInFront(character: string): boolean {
  return IN_FRONT.includes(character) || /[\s\p{Cc}\p{Cf}\p{Pi}\p{Pf}]/u.test(character);
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
    '\n=1',
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
        // In front of what it would run stands an apostrophe of ours, and nothing else goes before it.
        const mayRun = SIGNS.includes([...strip(text)][0] ?? '') && !/^\+[1-9][0-9]{6,14}$/.test(text);
        expect(written).toBe(mayRun ? `'${text}` : text);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('restoreCell', () => {
  it('undoes neutralizeCell for every text', () => {
    const property = fc.property(aCell, (text) => {
      expect(restoreCell(neutralizeCell(text))).toBe(text);
    });
    fc.assert(property, { numRuns: 5000 });
  });

  it.each(["'Ann", "'+6591234567", "''"])('leaves the apostrophe of %j, which is its own', (text) => {
    expect(restoreCell(text)).toBe(text);
  });
});
