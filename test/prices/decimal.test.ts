import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDecimal, formatMoney, parseDecimal, readNanos } from '../../src/prices/decimal.js';

/** Amounts as digits before and behind the point. */
const amounts = fc.tuple(fc.bigInt({ min: 0n, max: 999_999_999_999n }), fc.stringMatching(/^\d{0,9}$/));

/** By text alone: shift the point nine places. */
function scale(integer: bigint, fraction: string): bigint {
  return BigInt(`${integer}${fraction}${'0'.repeat(9 - fraction.length)}`);
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
          sum += read.nanos;
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
        expect(parseDecimal(written, { isCommaDecimal: true })).toEqual({ ok: true, nanos: scale(integer, fraction) });
      }),
    );
  });

  it('reads what formatDecimal writes, signs included', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 21n), max: 10n ** 21n - 1n }), (nanos) => {
        const written = formatDecimal(nanos);
        expect(readNanos(written)).toBe(nanos);
        if (nanos >= 0n) expect(parseDecimal(written)).toEqual({ ok: true, nanos });
      }),
    );
  });

  it.each([
    ['0.1234567891', 'has 10 decimals', 'at most 9'],
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

  it('ignores blanks around, leading zeros, and zeros behind the last decimal', () => {
    expect(parseDecimal(' 007.013636000000 ')).toEqual({ ok: true, nanos: 7_013_636_000n });
  });
});

it.each([
  [0n, '0.00'],
  [1n, '0.000000001'],
  [50_000_000n, '0.05'],
  [12_500_000_000n, '12.50'],
  [-3_000_000_000n, '-3.00'],
])('formatDecimal writes %s as %s', (nanos, written) => expect(formatDecimal(nanos)).toBe(written));

it('formatMoney separates thousands, and names the currency', () => {
  expect(formatMoney('0.05', 'EUR')).toBe('0.05 EUR');
  expect(formatMoney('1234567.123456', 'USD')).toBe('1,234,567.123456 USD');
});
