import { describe, expect, test } from 'vitest';
import { Caution } from '../../../src/run/send/breaker.js';

const NOTHING = { parts: 0, rows: 0 };

describe('a step of what must not be repeated', () => {
  test('begins with one part of ten rows, then has a hundred rows under way, and is free once a hundred are answered', () => {
    const caution = new Caution({ isRepeatable: false });
    expect([caution.isProbing, caution.maxRows]).toEqual([true, 10]);
    expect(caution.mayBegin(10, NOTHING)).toBe(true);
    expect(caution.mayBegin(1, { parts: 1, rows: 1 })).toBe(false);
    caution.noteAnswered(10);
    caution.noteGood(caution.clear());
    expect([caution.isProbing, caution.maxRows]).toEqual([false, 100]);
    expect(caution.mayBegin(100, NOTHING)).toBe(true);
    expect(caution.mayBegin(50, { parts: 1, rows: 50 })).toBe(true);
    expect(caution.mayBegin(51, { parts: 1, rows: 50 })).toBe(false);
    caution.noteAnswered(90);
    expect(caution.maxRows).toBe(Number.POSITIVE_INFINITY);
    expect(caution.mayBegin(10_000, { parts: 7, rows: 70_000 })).toBe(true);
  });

  test('probes from an answer in doubt until a good one, and then continues as before', () => {
    const caution = new Caution({ isRepeatable: false });
    caution.noteGood(caution.clear());
    caution.noteAnswered(100);
    const before = caution.clear();
    expect(caution.noteDoubt(before)).toBe(true);
    expect([caution.isProbing, caution.maxRows]).toEqual([true, 10]);
    expect(caution.holds(before)).toBe(false);
    const probe = caution.clear();
    expect(caution.holds(probe)).toBe(true);
    caution.noteGood(probe);
    expect([caution.isProbing, caution.maxRows]).toEqual([false, Number.POSITIVE_INFINITY]);
  });

  test('takes answers to what left before the last doubt for no news, good or bad', () => {
    const caution = new Caution({ isRepeatable: false });
    const early = caution.clear();
    caution.noteDoubt(early);
    expect(caution.noteDoubt(early)).toBe(false);
    caution.noteGood(early);
    expect(caution.isProbing).toBe(true);
  });
});

test('a step of what may be repeated is let go as the lane has room', () => {
  const caution = new Caution({ isRepeatable: true });
  expect([caution.isProbing, caution.maxRows]).toEqual([false, Number.POSITIVE_INFINITY]);
  expect(caution.mayBegin(1, { parts: 500, rows: 500 })).toBe(true);
  const clearance = caution.clear();
  expect(caution.noteDoubt(clearance)).toBe(true);
  expect([caution.isProbing, caution.holds(clearance)]).toEqual([false, true]);
});
