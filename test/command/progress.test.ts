import { expect, test } from 'vitest';
import { formatProgress } from '../../src/command/progress.js';
import { formatSeconds } from '../../src/domain/count-of.js';
import { widthOf } from '../../src/domain/text.js';

const progress = {
  step: 3,
  kind: 'verification.start',
  rows: 1_234_567,
  settled: 617_284,
  accepted: 600_000,
  rejected: 17_000,
  inDoubt: 283,
};
const pace = { rowsPerSecond: 4999, secondsLeft: 123 };

test.each([20, 30, 40, 60, 79, 80, 100, 120, 200])('a line of progress has room on %i columns', (columns) => {
  const line = formatProgress(progress, pace, columns);
  expect(widthOf(line)).toBeLessThan(columns);
  expect(line).toMatch(/^3 verification/);
  if (columns >= 40) expect(line).toContain('50 %');
});

test('a line of progress says how far it is, how long it takes, and what came of the rows', () => {
  const line = formatProgress({ ...progress, kind: 'sms' }, pace, 120);
  expect(line).toMatch(
    /^3 sms 50 % █+░+ 617,284 of 1,234,567 · 2 min 3 s left · 4,999\/s · 17,000 rejected · 283 in doubt/,
  );
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
