import { expect, test } from 'vitest';
import { cutText, widthOf, wrapText } from '../../src/domain/text.js';

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
