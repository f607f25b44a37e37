import metadata from 'libphonenumber-js/max/metadata';
import { describe, expect, it } from 'vitest';
import { anyOfLengths, both, either, parseDigitPattern } from '../../../src/normalize/number/digit-pattern.js';
import { NationalPrefix } from '../../../src/normalize/number/national-prefix.js';
import { createRandom } from '../number-samples.js';

type Plan = readonly unknown[];
const plans = Object.values(metadata.countries as unknown as Record<string, Plan>);
/** Every pattern of the metadata for whole numbers, and for how they begin. */
const whole = plans.flatMap((plan) => [
  plan[2],
  ...(plan[11] as ([string] | 0)[]).map((kind) => kind !== 0 && kind[0]),
]);
const starts = plans.flatMap((plan) => [plan[1], plan[10]]);
const isPattern = (source: unknown): source is string => typeof source === 'string' && source !== '';

const valuesOf = (digits: string) => Uint8Array.from(digits, Number);

describe('patterns of digits', () => {
  const random = createRandom(7);
  const pick = (values: readonly string[]) => values[Math.floor(random() * values.length)] ?? '';
  /** Digits that a pattern is likely to know: pieces of it, and any others. */
  const randomDigits = (source: string) => {
    const known = source.match(/\d+/g) ?? [];
    let digits = '';
    while (digits.length < 1 + random() * 14) digits += random() < 0.5 ? pick(known) : Math.floor(random() * 10);
    return digits.slice(0, 15);
  };

  it('match what RegExp matches, all of the metadata', () => {
    const matched = { whole: 0, starts: 0 };
    for (const source of whole.filter(isPattern)) {
      const pattern = parseDigitPattern(source);
      const expected = new RegExp(`^(?:${source})$`);
      for (let sample = 0; sample < 20; sample += 1) {
        const digits = randomDigits(source);
        const isMatch = expected.test(digits);
        expect([source, digits, pattern.matches(valuesOf(digits), 0, digits.length)]).toEqual([
          source,
          digits,
          isMatch,
        ]);
        matched.whole += Number(isMatch);
      }
    }
    for (const source of starts.filter(isPattern)) {
      const pattern = parseDigitPattern(source);
      const expected = new RegExp(`^(?:${source})`);
      for (let sample = 0; sample < 20; sample += 1) {
        const digits = randomDigits(source);
        const isMatch = expected.test(digits);
        const start = pattern.matchStart(valuesOf(digits), 0, digits.length);
        expect([source, digits, start !== undefined]).toEqual([source, digits, isMatch]);
        matched.starts += Number(isMatch);
      }
    }
    expect(matched.whole).toBeGreaterThan(500);
    expect(matched.starts).toBeGreaterThan(500);
  });

  it('count of the prefix what RegExp takes away, or leave it where its groups say more', () => {
    const seen = { counted: 0, left: 0 };
    for (const source of plans.map((plan) => plan[7] || plan[5]).filter(isPattern)) {
      const prefix = new NationalPrefix(source);
      const expected = new RegExp(`^(?:${source})`);
      for (let sample = 0; sample < 100; sample += 1) {
        const digits = randomDigits(source);
        const [taken = '', ...groups] = expected.exec(digits) ?? [];
        const isLeft = taken !== '' && groups.some((group) => group !== undefined);
        const count = prefix.countDigits(valuesOf(digits), 0, digits.length);
        expect([source, digits, count]).toEqual([source, digits, isLeft ? undefined : taken.length]);
        seen[isLeft ? 'left' : 'counted'] += taken.length > 0 ? 1 : 0;
      }
    }
    expect(seen.counted).toBeGreaterThan(500);
    expect(seen.left).toBeGreaterThan(50);
  });

  it('match from one place to another, and by lengths', () => {
    const digits = valuesOf('0012390');
    expect(parseDigitPattern('1[2-4]3?').matches(digits, 2, 5)).toBe(true);
    expect(parseDigitPattern('1[2-4]3?').matches(digits, 2, 4)).toBe(true);
    expect(parseDigitPattern('1[2-4]3?').matches(digits, 2, 6)).toBe(false);
    const three = both(anyOfLengths([3, 5]), either([parseDigitPattern('12\\d{1,2}'), parseDigitPattern('9')]));
    expect(three.matches(digits, 2, 5)).toBe(true);
    expect(three.matches(digits, 2, 6)).toBe(false);
    expect(parseDigitPattern('0|001').matchStart(digits, 0, 7)).toEqual({ length: 1, isOnly: false });
    expect(parseDigitPattern('001').matchStart(digits, 0, 7)).toEqual({ length: 3, isOnly: true });
    expect(parseDigitPattern('001').matchStart(digits, 0, 2)).toBeUndefined();
  });
});
