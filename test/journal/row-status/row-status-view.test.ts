import { expect, test } from 'vitest';
import type { JournalEntry } from '../../../src/journal/entry-format.js';
import { RowStatusView } from '../../../src/journal/row-status/row-status-view.js';
import { anIntent, anOutcome } from '../builders.js';

test('a request is settled once each of its parts has an outcome, not before it was begun', () => {
  const isSettled = (...entries: readonly JournalEntry[]) => {
    const size = { number: 1, counts: { planned: 30, requests: 3 } };
    const view = new RowStatusView([size], { isForReport: true });
    for (const [offset, entry] of entries.entries()) view.apply({ entry, offset });
    return view.isSettled(1, 2);
  };
  const begun = anIntent({ request: 2 });
  const of = (part: string) => [anIntent({ request: 2, part }), anOutcome({ request: 2, part })];
  const split = anOutcome({ request: 2, result: { kind: 'split', why: 'HTTP 400' } });

  expect(isSettled()).toBe(false);
  expect(isSettled(anIntent({ request: 1 }), anOutcome({ request: 1 }))).toBe(false);
  expect(isSettled(begun)).toBe(false);
  expect(isSettled(begun, anOutcome({ request: 2, result: { kind: 'again', why: 'HTTP 429' } }))).toBe(false);
  expect(isSettled(begun, anOutcome({ request: 2 }))).toBe(true);
  expect(isSettled(anIntent({ request: 1 }), begun, anOutcome({ request: 2 }))).toBe(true);
  expect(isSettled(begun, split, ...of('0'))).toBe(false);
  expect(isSettled(begun, split, ...of('0'), ...of('1'))).toBe(true);
});
