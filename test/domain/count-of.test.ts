import { expect, test } from 'vitest';
import { formatSeconds, listNonZero } from '../../src/domain/count-of.js';

test('counts that are 0 are left out', () => {
  expect(listNonZero({ rejected: 1200, skipped: 0, 'in doubt': 1 })).toEqual(['1,200 rejected', '1 in doubt']);
  expect(listNonZero({ skipped: 0 })).toEqual([]);
});

test.each([
  [59, '59 s'],
  [95, '1 min 35 s'],
  [120, '2 min'],
  [3700, '1 h 1 min'],
  [7200, '2 h'],
])('%i seconds are %s', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});
