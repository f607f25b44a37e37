import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDecimal, formatMoney, parseDecimal, readMicros } from '../../src/prices/decimal.js';

/** Amounts as digits before and behind the point. */
const amounts = fc.tuple(fc.bigInt({ min: 0n, max: 999_999_999_999n }), fc.stringMatching(/^\d{0,6}$/));

/** By text alone: shift the point six places. */
function scale(integer: bigint, fraction: string): bigint {
  return BigInt(`${integer}${fraction}${'0'.repeat(6 - fraction.length)}`);
}

const write = (integer: bigint, fraction: string, point = '.') =>
  fraction === '' ? `${integer}` : `${integer}${point}${fraction}`;

describe('parseDecimal', () => {
  it('is exact: the sum of amounts is that of their scaled texts', () => {
    fc.assert(
      fc.property(fc.array(amounts, { maxLength: 20 }), (list) => {
        let [sum, expected] = [0n, 0n];
        for (const [integer, fraction] of list) {
          const read = parseDecimal(write(integer, fraction));
          if (!read.ok) throw new Error(read.fault);
          sum += read.micros;
          expected += scale(integer, fraction);
        }
        expect(sum).toBe(expected);
      }),
    );
  });

  it('reads a comma as a point where it is the decimal sign', () => {
    fc.assert(
      fc.property(amounts, ([integer, fraction]) => {
        const written = write(integer, fraction, ',');
        expect(parseDecimal(written, { isCommaDecimal: true })).toEqual({ ok: true, micros: scale(integer, fraction) });
      }),
    );
  });

  it('reads what formatDecimal writes, signs included', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n - 1n }), (micros) => {
        const written = formatDecimal(micros);
        expect(readMicros(written)).toBe(micros);
        if (micros >= 0n) expect(parseDecimal(written)).toEqual({ ok: true, micros });
      }),
    );
  });

  it.each([
    ['0.1234567', 'has 7 decimals', 'at most 6'],
    ['1234567890123', 'has 13 digits before the point', 'at most 12'],
    ['-0.05', 'is negative', 'zero or more'],
    ['−0.05', 'is negative', 'zero or more'],
    ['0,05', 'has a comma, which may separate decimals or thousands', 'a point: 0.05'],
    ['1,234.50', 'is no decimal number', 'digits and a point, such as 0.05'],
    ['1.234,50', 'is no decimal number', 'digits and a point, such as 0.05'],
    ['5e-2', 'is no decimal number', 'digits and a point, such as 0.05'],
    ['€0.05', 'is no decimal number', 'digits and a point, such as 0.05'],
    ['.5', 'is no decimal number', 'digits and a point, such as 0.05'],
    ['5.', 'is no decimal number', 'digits and a point, such as 0.05'],
  ])('refuses %s', (text, fault, expected) => {
    expect(parseDecimal(text)).toEqual({ ok: false, fault, expected });
  });

  it('ignores blanks around, leading zeros, and zeros behind the sixth decimal', () => {
    expect(parseDecimal(' 007.0136360 ')).toEqual({ ok: true, micros: 7_013_636n });
  });
});

describe('formatDecimal', () => {
  it.each([
    [0n, '0.00'],
    [1n, '0.000001'],
    [50_000n, '0.05'],
    [12_500_000n, '12.50'],
    [-3_000_000n, '-3.00'],
  ])('writes %s as %s', (micros, written) => expect(formatDecimal(micros)).toBe(written));
});

describe('formatMoney', () => {
  it('separates thousands, and names the currency', () => {
    expect(formatMoney('0.05', 'EUR')).toBe('0.05 EUR');
    expect(formatMoney('1234567.123456', 'USD')).toBe('1,234,567.123456 USD');
  });
});
