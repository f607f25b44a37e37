import { expect, test } from 'vitest';
import { listLiveTexts } from './live-texts.js';

test.each([
  ["test('a title', () => {})", true],
  ["it.each([1])('a title', () => {})", true],
  ["test.each([['a title', 1]])('%s', () => {})", true],
  ["describe('a', () => { test.concurrent('a title', () => {}) })", true],
  ["// test('a title', () => {})", false],
  ["test.skip('a title', () => {})", false],
  ["it.todo('a title')", false],
  ["test.skipIf(true)('a title', () => {})", false],
  ["test.runIf(false)('a title', () => {})", false],
  ["describe.skip('b', () => { it('a title', () => {}) })", false],
  ["describe.skipIf(isHere())('b', () => { it.each([1])('a title', () => {}) })", false],
  ["test.concurrent.skip.each([1])('a title', () => {})", false],
  ["test.skip.each([['a title', 1]])('%s', () => {})", false],
  ["test('a title', { skip: true }, () => {})", false],
])('a title counts only where its test is run: %s', (source, isLive) => {
  expect(listLiveTexts(source).some((text) => text.includes('a title'))).toBe(isLive);
});
