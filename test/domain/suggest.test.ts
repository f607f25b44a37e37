import fc from 'fast-check';
import { expect, test } from 'vitest';
import { suggestNearest } from '../../src/domain/text.js';

const KEYS = ['region', 'account', 'bases', 'sms', 'contacts', 'failOn', 'maxRejectedPercent'];

test.each([
  ['regoin', 'region'],
  ['Region', 'region'],
  ['failon', 'failOn'],
  ['acount', 'account'],
  ['contact', 'contacts'],
  ['maxRejectPercent', 'maxRejectedPercent'],
  ['smss', 'sms'],
  ['base', 'bases'],
])('%s suggests %s', (written, nearest) => {
  expect(suggestNearest(written, KEYS)).toBe(nearest);
});

test.each(['bananas', 'x', '', 'zz', 'customer', 'a'.repeat(1_000_000)])('%.20s suggests nothing', (written) => {
  expect(suggestNearest(written, KEYS)).toBeUndefined();
});

test('a word with one letter too many, too few or wrong suggests itself', () => {
  const word = fc.constantFrom('region', 'account', 'contacts', 'maxRejectedPercent');
  fc.assert(
    fc.property(word, fc.nat(), fc.constantFrom('insert', 'delete', 'replace'), (key, position, edit) => {
      const at = position % key.length;
      const tail = key.slice(edit === 'insert' ? at : at + 1);
      expect(suggestNearest(key.slice(0, at) + (edit === 'delete' ? '' : '#') + tail, KEYS)).toBe(key);
    }),
  );
});
