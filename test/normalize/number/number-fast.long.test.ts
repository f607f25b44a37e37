import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/max/metadata';
import { describe, expect, it } from 'vitest';
import { normalizeByLibrary, normalizeNumber } from '../../../src/normalize/number/number.js';
import { readFast } from '../../../src/normalize/number/number-fast.js';
import { ALL } from '../../one-in.js';
import { createNumberSampler } from '../number-samples.js';

/** VOLLEY_NUMBER_SAMPLES asks for more than the suite has time for: 2,000,000 take some minutes. */
const SAMPLES = Number(process.env.VOLLEY_NUMBER_SAMPLES ?? (ALL ? 20_000 : 5_000));
const SEED = Number(process.env.VOLLEY_NUMBER_SEED ?? 20261);

/** The library alone, asked in the plainest way. */
function askLibrary(text: string, country: string | undefined): string | undefined {
  const parsed = parsePhoneNumberFromString(text.trim(), {
    extract: false,
    ...(country !== undefined && { defaultCountry: country as CountryCode }),
  });
  return parsed?.isValid() && parsed.ext === undefined ? `${parsed.number} ${parsed.country ?? 'ZZ'}` : undefined;
}

describe('fast path of numbers', () => {
  it(
    'accepts nothing that the library refuses, and reads the same number of the same country, in all countries',
    () => {
      const sampleNumber = createNumberSampler(SEED);
      const disagreements: string[] = [];
      let taken = 0;
      let valid = 0;
      for (let sample = 0; sample < SAMPLES; sample++) {
        const { text, country } = sampleNumber();
        const expected = askLibrary(text, country);
        const fast = readFast(text, country);
        if (expected !== undefined) valid++;
        if (typeof fast !== 'object') continue;
        taken++;
        if (`+${fast.digits} ${fast.country}` !== expected)
          disagreements.push(`${text} in ${country}: +${fast.digits}, not ${expected}`);
      }
      expect(disagreements).toEqual([]);
      expect(valid).toBeGreaterThan(SAMPLES / 10);
      expect(taken / valid).toBeGreaterThan(0.5);
    },
    30_000 + SAMPLES,
  );

  it('gives the whole answer of the library alone, refusals with their reasons included', () => {
    const sampleNumber = createNumberSampler(SEED + 1);
    for (let sample = 0; sample < SAMPLES / 20; sample++) {
      const { text, country } = sampleNumber();
      expect(normalizeNumber(text, country)).toEqual(normalizeByLibrary(text, country));
    }
  });

  it(
    'refuses nothing that the library accepts, and for the reason that is given without it, in all countries',
    () => {
      const sampleNumber = createNumberSampler(SEED + 2);
      let refused = 0;
      for (let sample = 0; sample < SAMPLES; sample++) {
        const { text, country } = sampleNumber();
        if (readFast(text, country) !== 'refused') continue;
        refused++;
        const expected = [text, country, normalizeByLibrary(text, country)];
        expect([text, country, normalizeNumber(text, country)]).toEqual(expected);
      }
      expect(refused).toBeGreaterThan(SAMPLES / 20);
    },
    30_000 + SAMPLES,
  );

  it.each(['+49 ()', '+49---', '+1   (', '12 -- ', '--- -', '+7 - 1', '1 2 3 (', '0000000', '123456789', ' 12345 '])(
    'says of %j what is said without it',
    (text) => {
      for (const country of ['DE', 'US', 'SG', 'AQ', undefined])
        expect(normalizeNumber(text, country)).toEqual(normalizeByLibrary(text, country));
    },
  );

  it('leaves to the library what can be read in two ways', () => {
    expect(readFast('+8821612345678', undefined)).toEqual({ digits: 8821612345678, country: 'ZZ' });
    expect(readFast('011 65 9123 4567', 'US')).toBeUndefined();
    expect(readFast('0 15 31 8765 4321', 'BR')).toBeUndefined();
    expect(readFast('+44 (0)7911 123456', undefined)).toBeUndefined();
    expect(readFast('030/12345678', 'DE')).toBeUndefined();
    expect(readFast('0301234567.0', 'DE')).toBeUndefined();
  });

  it('rests on a layout of the metadata that is still the one it was written for', () => {
    expect(metadata.version).toBe(4);
    const plans = Object.values(metadata.countries as unknown as Record<string, unknown[]>);
    expect(plans).toHaveLength(245);
    for (const plan of plans) {
      expect(plan[0]).toMatch(/^\d{1,3}$/);
      expect(plan[11]).toBeInstanceOf(Array);
      const lengths = plan[3] as number[];
      for (const type of plan[11] as ([string, number[]?] | 0)[]) {
        if (type !== 0) expect(lengths).toEqual(expect.arrayContaining(type[1] ?? []));
      }
    }
  });
});
