import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PriceList, type PriceRow } from '../../src/prices/price-list.js';

function aPriceRow(changes: Partial<PriceRow>): PriceRow {
  return { line: 2, country: undefined, prefix: undefined, sms: 1n, contact: undefined, ...changes };
}

describe('PriceList', () => {
  it('finds the longest prefix before the country, and of equally long ones that of the country', () => {
    const rows = {
      india: aPriceRow({ country: 'IN' }),
      zone: aPriceRow({ prefix: '91' }),
      jio: aPriceRow({ prefix: '9162' }),
      canada: aPriceRow({ prefix: '1', country: 'CA' }),
      zone1: aPriceRow({ prefix: '1' }),
    };
    const list = new PriceList(Object.values(rows));
    expect(list.find('IN', 916212345678)).toBe(rows.jio);
    expect(list.find('IN', 919912345678)).toBe(rows.zone);
    expect(list.find('CA', 16135550123)).toBe(rows.canada);
    expect(list.find('US', 12025550123)).toBe(rows.zone1);
    expect(list.find('IN', undefined)).toBe(rows.india);
    expect(list.find('SG', 6591234567)).toBeUndefined();
  });

  it('finds what a search through all prefixes as text finds', () => {
    const digits = fc.stringMatching(/^[1-4][0-3]{0,5}$/);
    const numbers = fc.stringMatching(/^[1-4][0-3]{6,14}$/);
    fc.assert(
      fc.property(fc.uniqueArray(digits, { maxLength: 12 }), numbers, (prefixes, number) => {
        const list = new PriceList(prefixes.map((prefix) => aPriceRow({ prefix })));
        const fitting = prefixes.filter((prefix) => number.startsWith(prefix));
        const longest = fitting.sort((one, other) => other.length - one.length)[0];
        expect(list.find('SG', Number(number))?.prefix).toBe(longest);
      }),
    );
  });
});
