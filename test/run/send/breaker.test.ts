import { describe, expect, test } from 'vitest';
import { Breaker } from '../../../src/run/send/breaker.js';

/** A breaker that gives up after a minute, on a clock that is set by hand. */
function aBreaker({ random = (): number => 0, giveUpAfterMs = 60_000 } = {}) {
  const time = { nowMs: 5000 };
  const clock = { now: () => 0, monotonicMs: () => time.nowMs, sleep: async () => {} };
  const breaker = new Breaker({ clock, giveUpAfterMs, random });
  const noteBad = (count: number, { isInDoubt = false } = {}) =>
    Array.from({ length: count }, () => breaker.noteBad(isInDoubt));
  return { breaker, noteBad, time };
}

describe('breaker', () => {
  test('opens at the fifth bad answer in a row, and closes at a good one', () => {
    const { breaker, noteBad } = aBreaker();
    noteBad(4);
    expect(breaker.isOpen).toBe(false);
    noteBad(1);
    expect(breaker.isOpen).toBe(true);
    breaker.noteGood();
    expect(breaker.isOpen).toBe(false);
  });

  test('counts from nothing after each good answer', () => {
    const { breaker, noteBad } = aBreaker();
    for (let round = 0; round < 5; round++) {
      noteBad(4);
      breaker.noteGood();
    }
    noteBad(4);
    expect(breaker.isOpen).toBe(false);
  });

  test('asks for pauses that double from 200 ms to 30 s, and begin anew after a good answer', () => {
    const { breaker, noteBad } = aBreaker({ random: () => 1 });
    expect(noteBad(10)).toEqual([200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
    breaker.noteGood();
    expect(noteBad(1)).toEqual([200]);
  });

  test('takes up to half off each pause at random, and stays finite however long the row', () => {
    expect(aBreaker({ random: () => 0 }).noteBad(2)).toEqual([100, 200]);
    expect(aBreaker({ random: () => 0.5 }).noteBad(2)).toEqual([150, 300]);
    expect(
      aBreaker({ random: () => 0 })
        .noteBad(2000)
        .at(-1),
    ).toBe(15_000);
  });

  test('gives up when it is open and no good answer came for the time it was given', () => {
    const { breaker, noteBad, time } = aBreaker();
    noteBad(1);
    time.nowMs += 59_999;
    noteBad(4);
    expect(breaker.shouldGiveUp).toBe(false);
    time.nowMs += 1;
    expect(breaker.shouldGiveUp).toBe(true);
    breaker.noteGood();
    expect(breaker.shouldGiveUp).toBe(false);
  });

  test('does not give up while it is closed, however long ago the bad answer was', () => {
    const { breaker, noteBad, time } = aBreaker();
    noteBad(4);
    time.nowMs += 3_600_000;
    expect(breaker.shouldGiveUp).toBe(false);
  });

  test('measures the time from the first bad answer after the last good one', () => {
    const { breaker, noteBad, time } = aBreaker();
    noteBad(1);
    time.nowMs += 50_000;
    breaker.noteGood();
    noteBad(5);
    time.nowMs += 59_999;
    expect(breaker.shouldGiveUp).toBe(false);
  });

  test('gives up at the third probe that ends in doubt', () => {
    const { breaker, noteBad } = aBreaker();
    noteBad(7, { isInDoubt: true });
    expect(breaker.shouldGiveUp).toBe(false);
    noteBad(1, { isInDoubt: true });
    expect(breaker.shouldGiveUp).toBe(true);
  });

  test('does not give up for doubts between which the service refused', () => {
    const { breaker, noteBad } = aBreaker();
    for (let round = 0; round < 5; round++) {
      noteBad(7, { isInDoubt: true });
      noteBad(1, { isInDoubt: false });
    }
    expect(breaker).toMatchObject({ isOpen: true, shouldGiveUp: false });
  });

  test('gives up at the fifth bad answer when it was given no time', () => {
    const { breaker, noteBad } = aBreaker({ giveUpAfterMs: 0 });
    noteBad(4);
    expect(breaker.shouldGiveUp).toBe(false);
    noteBad(1);
    expect(breaker.shouldGiveUp).toBe(true);
  });
});
