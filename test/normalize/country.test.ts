import { getCountries } from 'libphonenumber-js/max';
import { describe, expect, it } from 'vitest';
import { nameCountry, normalizeCountry } from '../../src/normalize/country.js';
import { alpha2ByAlpha3, alpha2Codes } from '../../src/normalize/country-codes.js';

describe('country', () => {
  it('is an ISO alpha-2 code in any case, with blanks around it', () => {
    for (const text of ['SG', 'sg', ' Sg ']) expect(normalizeCountry(text)).toEqual({ ok: true, country: 'SG' });
  });

  it.each([
    ['Singapore', 'SG'],
    ['VIET NAM', 'VN'],
    ['vietnam', 'VN'],
    ['Cote d’Ivoire', 'CI'],
    ['Hong Kong', 'HK'],
    ['United States', 'US'],
    ['Myanmar', 'MM'],
    ['PHL', 'PH'],
    ['UK', 'GB'],
    ['65', undefined],
    ['ZZ', undefined],
    ['__proto__', undefined],
  ])('%s is refused, with %s to be written instead', (text, code) => {
    const result = normalizeCountry(text);
    expect(result.ok).toBe(false);
    if (!result.ok) expect(result.reason).toContain(code === undefined ? 'expected one such as SG' : `write ${code}`);
  });

  it('quotes no long text and no control characters back', () => {
    for (const text of ['x'.repeat(1_000_000), 'S\u001B[31mG']) {
      const result = normalizeCountry(text);
      expect(result).toEqual({
        ok: false,
        reason: 'The country is not a two-letter country code, expected one such as SG.',
      });
    }
  });

  it('has a name for messages', () => {
    expect(nameCountry('SG')).toBe('Singapore');
    expect(nameCountry('QQ')).toBe('QQ');
  });

  it('is known by all 249 codes of ISO 3166-1 and all countries of the library', () => {
    expect(alpha2ByAlpha3.size).toBe(249);
    expect(new Set(alpha2ByAlpha3.values()).size).toBe(249);
    for (const [alpha3, alpha2] of alpha2ByAlpha3) {
      expect(alpha3).toMatch(/^[A-Z]{3}$/);
      expect(nameCountry(alpha2)).not.toBe(alpha2);
    }
    expect(getCountries().filter((country) => !alpha2Codes.has(country))).toEqual([]);
  });
});
