import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutText, suggestNearest, widthOf, wrapText } from '../../src/domain/text.js';

test.each([
  ['abc', 3],
  ['陈美', 4],
  ['🎉', 2],
  ['e\u0301', 1],
  ['\u001b[31mred\u001b[39m', 3],
])('%j takes %i columns', (text, width) => {
  expect(widthOf(text)).toBe(width);
});

test('a text is cut to a width, with a sign of it', () => {
  expect(cutText('abcdef', 6)).toBe('abcdef');
  expect(cutText('abcdefg', 6)).toBe('abcde…');
  expect(cutText('陈陈陈陈', 6)).toBe('陈陈…');
});

test('lines are parted at blanks, indented from the second on, and no word is broken', () => {
  expect(wrapText('  one two three', 10, '    ')).toEqual(['  one two', '    three']);
  expect(wrapText('see out/a/very/long/path now', 10)).toEqual(['see', 'out/a/very/long/path', 'now']);
  expect(wrapText('', 10)).toEqual(['']);
});

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
