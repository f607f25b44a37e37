import { describe, expect, it } from 'vitest';
import { showNumbersBy, writeInFull } from '../../../src/input/xlsx/workbook.js';

describe('a number in full', () => {
  it.each([
    ['6591234567', '6591234567'],
    ['6.591234567E+09', '6591234567'],
    ['4.79E+11', '479000000000'],
    ['4.79123456789E11', '479123456789'],
    ['999999999999999', '999999999999999'],
    ['6591234567890123456', '6591234567890123456'],
    ['1e21', '1000000000000000000000'],
    ['0.30000000000000004', '0.3'],
    ['1234.5', '1234.5'],
    ['-12.50', '-12.5'],
    ['1E-7', '0.0000001'],
    ['.5', '0.5'],
    ['-0', '-0'],
    ['007', '7'],
  ])('%s is %s: with all digits, and never with an exponent', (stored, text) => {
    expect(writeInFull(stored)).toBe(text);
  });

  it.each(['', ' ', 'abc', 'NaN', 'Infinity', '0x10', '1e999', '1,5', '--1'])('%j is none', (stored) => {
    expect(writeInFull(stored)).toBeUndefined();
  });
});

describe('a number format', () => {
  it.each([
    ['General', '6591234567', '6591234567'],
    ['0', '6591234567', '6591234567'],
    ['0000', '7', '0007'],
    ['00000000', '1234567', '01234567'],
    ['+0', '6591234567', '+6591234567'],
    ['#,##0.00', '1234.5', '1,234.50'],
    ['_(* #,##0.00_)', '1234.5', '1,234.50'],
    ['"S$"0.00', '12.5', 'S$12.50'],
    ['0%', '0.2', '20%'],
    ['# ?/?', '1.5', '1 1/2'],
    ['@', '6591234567', '6591234567'],
    ['(000) 000-0000', '2025550143', '(202) 555-0143'],
  ])('%s shows %s as %s', (pattern, stored, text) => {
    expect(showNumbersBy(pattern, false)(stored)).toBe(text);
  });

  it.each([
    ['0.00E+00', 'an exponent'],
    ['##0.0E+0', 'an exponent in steps of three'],
    ['0,', 'thousands'],
    [';;;', 'nothing'],
    ['"yes";"no"', 'a word'],
    ['0;0;"-"', 'a number of its own', '0'],
    ['0"never closed', 'a mistake'],
  ])('%s hides digits, with %s: the number is read in full', (pattern, _what, stored = '6591234567') => {
    expect(showNumbersBy(pattern, false)(stored)).toBe(stored);
  });
});

describe('a date', () => {
  it.each([
    ['yyyy-mm-dd', '46349', '2026-11-23'],
    ['m/d/yyyy', '46349', '2026-11-23'],
    ['[$-409]d mmm yyyy;@', '46349.75', '2026-11-23'],
    ['dd.mm.yy h:mm', '46349.75', '2026-11-23T18:00:00'],
    ['yyyy-mm-dd h:mm:ss', '46349.999999', '2026-11-24T00:00:00'],
    ['h:mm', '0.75', '18:00'],
    ['h:mm:ss', '0.7500116', '18:00:01'],
    ['[h]:mm', '1.5', '36:00'],
    ['mmm yy', '46349', '2026-11-23'],
    ['yyyy-mm-dd', '1', '1900-01-01'],
    ['yyyy-mm-dd', '59', '1900-02-28'],
    ['yyyy-mm-dd', '60', '1900-02-29'],
    ['yyyy-mm-dd', '61', '1900-03-01'],
    ['yyyy-mm-dd', '2958465', '9999-12-31'],
  ])('in %s, %s is %s', (pattern, stored, text) => {
    expect(showNumbersBy(pattern, false)(stored)).toBe(text);
  });

  it('is counted from 1904 where the workbook says so', () => {
    expect(showNumbersBy('yyyy-mm-dd', true)('44887')).toBe('2026-11-23');
  });

  it.each(['-1', '2958466', '6591234567'])('that no sheet shows is a number: %s', (stored) => {
    expect(showNumbersBy('yyyy-mm-dd', false)(stored)).toBe(stored);
  });
});
