import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskNumber } from '../../src/normalize/mask.js';

describe('mask of numbers', () => {
  it('shows the first two and the last two digits', () => {
    expect(maskNumber('+6591234521')).toBe('+65******21');
    expect(maskNumber('6591234521')).toBe('65******21');
  });

  it('hides whole what is short or no number', () => {
    for (const text of ['', '+', '+65912', '110', 'Jane 6591234521', '+65 9123 4521', '1'.repeat(16)]) {
      expect(maskNumber(text)).toBe('***');
    }
  });

  it('never shows more than four digits', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\+?\d{0,20}$/), (text) => {
        expect(maskNumber(text).replace(/\D/g, '').length).toBeLessThanOrEqual(4);
      }),
    );
  });
});
