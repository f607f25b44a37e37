import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { neutralizeCell, restoreCell } from '../src/formula.js';

const aCell = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom("'", '"', '=', '+', '-', '@', '\t', '\r', '\n', ' ', '＝', '＋', '－', '＠', 'a', '6', '5'),
  }),
  fc.stringMatching(/^'?\+[0-9]{5,17}$/),
);

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
    '+65 9123 4567',
    '+0123456789',
    '+123456',
    '+1234567890123456',
  ])('puts an apostrophe before %j', (text) => {
    expect(neutralizeCell(text)).toBe(`'${text}`);
  });

  it.each(['', 'Ann', "O'Neil", "'quoted'", '6591234567', '+6591234567', 'a=1', '1-2', '"text"'])(
    'leaves %j as it is',
    (text) => {
      expect(neutralizeCell(text)).toBe(text);
    },
  );

  it('leaves no cell that a spreadsheet would run', () => {
    fc.assert(
      fc.property(aCell, (text) => {
        const written = neutralizeCell(text);
        expect(written === text || written === `'${text}`).toBe(true);
        if (/^[=+\-@\t\r＝＋－＠]/.test(written)) expect(written).toMatch(/^\+[1-9][0-9]{6,14}$/);
      }),
    );
  });
});

describe('restoreCell', () => {
  it('undoes neutralizeCell for every text', () => {
    const property = fc.property(aCell, (text) => {
      expect(restoreCell(neutralizeCell(text))).toBe(text);
    });
    fc.assert(property, { numRuns: 2000 });
  });

  it.each(["'Ann", "'+6591234567", "''"])('leaves the apostrophe of %j, which is its own', (text) => {
    expect(restoreCell(text)).toBe(text);
  });
});
