import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NumberSet } from '../../../src/normalize/number/number-set.js';

describe('set of numbers', () => {
  it('names the row that was kept for every later one with the same number', () => {
    const numbers = new NumberSet();
    expect(numbers.add(6591234567, 3)).toBeUndefined();
    expect(numbers.add(6591234567, 9)).toBe(3);
    expect(numbers.add(6591234567, 12)).toBe(3);
    expect(numbers.size).toBe(1);
  });

  it('knows the first row, 0, as a holder', () => {
    const numbers = new NumberSet();
    numbers.add(6591234567, 0);
    expect(numbers.add(6591234567, 1)).toBe(0);
  });

  it('tells numbers of fifteen digits apart', () => {
    const numbers = new NumberSet();
    numbers.add(999999999999999, 1);
    numbers.add(999999999999998, 2);
    expect(numbers.add(999999999999999, 3)).toBe(1);
    expect(numbers.add(999999999999998, 3)).toBe(2);
  });

  it('answers as a Map does, in whatever order numbers come', () => {
    const number = fc.oneof(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 0, max: 2000 }).map((last) => 6_591_230_000 + last),
      fc.integer({ min: 0, max: 50 }).map((high) => 1 + high * 2 ** 32),
      fc.stringMatching(/^[1-9]\d{0,14}$/).map(Number),
    );
    fc.assert(
      fc.property(fc.array(number, { maxLength: 4000, size: 'max' }), (all) => {
        const numbers = new NumberSet();
        const expected = new Map<number, number>();
        for (const [ordinal, e164] of all.entries()) {
          expect(numbers.find(e164)).toBe(expected.get(e164));
          expect(numbers.add(e164, ordinal)).toBe(expected.get(e164));
          if (!expected.has(e164)) expected.set(e164, ordinal);
        }
        expect(numbers.size).toBe(expected.size);
      }),
      { numRuns: 30 },
    );
  });

  it('keeps every number and its row as it grows, numbers in sequence included', () => {
    const numbers = new NumberSet();
    const count = 300_000;
    for (let at = 0; at < count; at++) numbers.add(6_590_000_000 + at, at);
    expect(numbers.size).toBe(count);
    let wrong = 0;
    for (let at = 0; at < count; at++) if (numbers.add(6_590_000_000 + at, 0xffff_ffff) !== at) wrong++;
    expect(wrong).toBe(0);
    expect(numbers.find(6_590_300_000)).toBeUndefined();
  });

  it('takes the largest ordinal of 32 bits and refuses one beyond', () => {
    const numbers = new NumberSet();
    numbers.add(6591234567, 0xffff_ffff);
    expect(numbers.add(6591234567, 1)).toBe(0xffff_ffff);
    for (const ordinal of [-1, 0.5, 2 ** 32, Number.NaN])
      expect(() => numbers.add(6591234568, ordinal)).toThrow(/ordinal/);
  });

  it('refuses what is not E.164, without saying what it was', () => {
    const numbers = new NumberSet();
    for (const number of [0, -1, 0.5, 1e15, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => numbers.add(number, 1)).toThrow('Cannot keep a number: it is not in E.164 form');
      expect(() => numbers.find(number)).toThrow('not in E.164 form');
    }
    expect(numbers.size).toBe(0);
  });
});
