import { expect, test, vi } from 'vitest';
import { createProgressView, formatProgress } from '../../src/command/progress.js';
import type { Terminal } from '../../src/command/terminal.js';
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
  ['xterm', 1],
  ['dumb', 0],
])('a terminal that is %s draws a bar where it can erase one', (TERM, drawn) => {
  const showBelow = vi.fn();
  const terminal = { isStderrTerminal: true, env: { TERM }, showBelow } as unknown as Terminal;
  const view = createProgressView(terminal, { info: vi.fn(), warn: vi.fn(), error: vi.fn() });
  view.sent(progress);
  expect(showBelow).toHaveBeenCalledTimes(drawn);
  view.close();
});
