import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countSegments, replaceTypography } from '../../src/template/segments.js';
import { runsOf } from '../one-in.js';

describe('replacing typography', () => {
  it.each([
    ['It’s ‘you’', "It's 'you'", '‘’'],
    ['„So“ “so” «so» ‹so›', '"So" "so" "so" \'so\'', '«»“”„‹›'],
    ['20–30 — 5‑7 − 1', '20-30 - 5-7 - 1', '‑–—−'],
    ['Wait…', 'Wait...', '…'],
    ['10\u00a0€ a\u202fb\u2009c', '10 € a b c', '\u00a0\u2009\u202f'],
  ])('%j is %j', (text, plain, replaced) => {
    expect(replaceTypography(text)).toEqual({ text: plain, replaced });
  });

  it.each([['plain'], ['Ünder 10 € [a]'], [''], ['你好 – 5'], ['Olá ç – ok'], ['👩 “x”'], ['• one'], ['a\u200bb']])(
    '%j stays as it is: nothing is to be replaced, or GSM-7 is not enough',
    (text) => expect(replaceTypography(text)).toBeUndefined(),
  );

  it('replaces the 27 characters of its table, and no other', () => {
    const all = Array.from({ length: 0xffff }, (_, unit) => String.fromCharCode(unit));
    expect(all.filter((character) => replaceTypography(character) !== undefined)).toHaveLength(27);
  });

  it('makes only texts of GSM-7, of as few parts or fewer, and nothing of what it made', () => {
    const unit = fc.constantFrom('a', 'é', '€', '’', '“', '–', '…', '\u00a0', ' ', '漢', 'ç', '👩');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 300 }), (text) => {
        const made = replaceTypography(text);
        if (made === undefined) return;
        expect(countSegments(text, 'AUTO').encoding).toBe('UCS2');
        expect(countSegments(made.text, 'AUTO').encoding).toBe('GSM7');
        expect(replaceTypography(made.text)).toBeUndefined();
      }),
      { numRuns: runsOf(2000) },
    );
  });
});
