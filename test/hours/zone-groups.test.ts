import { expect, test } from 'vitest';
import { formatOpening } from '../../src/hours/window.js';

test.each([
  ['Asia/Singapore', '27 November 2026 at 01:00 UTC (27 November 2026 at 09:00 Asia/Singapore)'],
  ['UTC', '27 November 2026 at 01:00 UTC'],
])('an opening in %s is said in UTC, and once more by other clocks', (zone, words) => {
  expect(formatOpening(Date.parse('2026-11-27T01:00:00Z'), zone)).toBe(words);
});
