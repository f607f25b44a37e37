import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maskCell, maskNumber } from '../../src/normalize/mask.js';

describe('mask of numbers', () => {
  test('shows the first two and the last two digits', () => {
    expect(maskNumber('+6591234521')).toBe('+65******21');
    expect(maskNumber('6591234521')).toBe('65******21');
  });

  test('hides whole what is short or no number', () => {
    for (const text of ['', '+', '+65912', '110', 'Jane 6591234521', '+65 9123 4521', '1'.repeat(16)]) {
      expect(maskNumber(text)).toBe('***');
    }
  });

  test('never shows more than four digits', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\+?\d{0,20}$/), (text) => {
        expect(maskNumber(text).replace(/\D/g, '').length).toBeLessThanOrEqual(4);
      }),
    );
  });
});

test.each([
  ['bad-number', '+65 9123 4567', '+65 **** **67'],
  ['spreadsheet-number', '6.59123E+09', '6.5****E+09'],
  ['letters', 'O591234567', 'O59*****67'],
  ['too-short', '12345', '*****'],
  ['extension', '+65 9123 4567 extension 12', '+65 **** **** … 12'],
  ['not-a-number', 'Anna Tan', ''],
  ['two-numbers', 'Anna 91234567', '… 91****67'],
  ['bad-email', 'anna..lee@example', 'xxxx..xxx@xxxxxxx'],
  ['bad-country', 'Singapur', 'Singapur'],
  ['bad-country', '+6591234567', '+65******67'],
  ['bad-language', ' zh-HK', 'zh-HK'],
  ['bad-language', 'Anna', ''],
  ['field-too-long', 'Annabella', ''],
  ['missing-value', 'secret', ''],
  ['1002', '+6591234567', ''],
])('of a row with %s the cell %j is shown as %j', (code, cell, shown) => {
  expect(maskCell(code, cell)).toBe(shown);
});
