import { getCountries, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { describe, expect, it } from 'vitest';
import { normalizeByLibrary, normalizeNumber } from '../../src/normalize/number/number.js';
import { isMobileNumber } from '../../src/normalize/number/number-library.js';
import { planByCountry } from '../../src/normalize/number/numbering-plan.js';
import { ALL } from '../one-in.js';
import { createNumberSampler } from './number-samples.js';

const SAMPLES = Number(process.env.VOLLEY_NUMBER_SAMPLES ?? (ALL ? 20_000 : 5_000)) / 10;
const COUNTRIES = getCountries();

/** Valid numbers of all countries, in E.164. */
function sampleNumbers(count: number): string[] {
  const sampleNumber = createNumberSampler(715);
  const numbers = new Set<string>();
  while (numbers.size < count) {
    const { text, country } = sampleNumber();
    const read = normalizeByLibrary(text, country);
    // Of some, the library takes off a prefix that the country dials, where they stand behind a +.
    if (read.ok && parsePhoneNumberFromString(read.e164)?.number === read.e164) numbers.add(read.e164);
  }
  return [...numbers];
}

describe('00 in front of a valid international number', () => {
  it(
    'is a + in every country where nothing else comes of it; else the number is refused, and both readings are named',
    () => {
      let refused = 0;
      for (const [at, e164] of sampleNumbers(SAMPLES).entries()) {
        for (const country of [COUNTRIES[at % COUNTRIES.length]!, 'SG', 'US', 'DE']) {
          const text = `00${e164.slice(1)}`;
          const dialled = parsePhoneNumberFromString(text, { extract: false, defaultCountry: country as 'SG' });
          const isOther = dialled?.isValid() === true && dialled.number !== e164;
          const read = normalizeNumber(text, country);
          if (!isOther) expect([text, country, read]).toMatchObject([text, country, { ok: true, e164 }]);
          else {
            refused++;
            expect([text, country, read]).toMatchObject([text, country, { ok: false, code: 'double-zero' }]);
            const reason = read.ok ? '' : read.reason;
            expect(reason).toContain(e164);
            expect(reason).toContain(dialled.number);
            expect(planByCountry.get(country)?.dialsDoubleZero, country).toBe(false);
          }
          expect(read).toEqual(normalizeByLibrary(text, country));
        }
      }
      expect(refused).toBeGreaterThan(0);
    },
    30_000 + SAMPLES * 20,
  );

  it('is not read as a + where no country is named, and the number is shown', () => {
    for (const country of [undefined, '', 'Nowhere'])
      expect(normalizeNumber('0065 9123 4567', country)).toMatchObject({
        ok: false,
        reason: expect.stringContaining('+6591234567'),
      });
  });

  it('is refused in Singapore, where 003 is a carrier, when both readings are numbers', () => {
    expect(normalizeNumber('0033 6 12 34 56 78', 'SG')).toEqual({
      ok: false,
      code: 'double-zero',
      reason:
        'The number begins with 00: it is +33612345678 if that stands for a +, or +3612345678 if it is dialled in Singapore; write the right one with a +.',
    });
  });

  it('makes no number of what is none behind it', () => {
    for (const country of COUNTRIES)
      for (const text of ['00', '000', '0000', '00 65', '00 65 123', '00999 1234567', '0065 9123 4567 8901 23']) {
        const read = normalizeNumber(text, country);
        expect(read).toEqual(normalizeByLibrary(text, country));
        if (read.ok) expect(parsePhoneNumberFromString(text, country)?.number).toBe(read.e164);
      }
  });
});

it('a number without its + is read as no other in its own country, nor a mobile phone as a landline elsewhere, where numbers are dialled with a 0', () => {
  let refused = 0;
  for (const e164 of sampleNumbers(SAMPLES)) {
    const own = parsePhoneNumberFromString(e164)?.country;
    for (const country of [own, 'DE', 'AT', 'ID']) {
      if (country === undefined || planByCountry.get(country)?.dialsZero !== true) continue;
      const read = normalizeNumber(e164.slice(1), country);
      expect(read).toEqual(normalizeByLibrary(e164.slice(1), country));
      if (!read.ok) refused++;
      else if (country === own) expect([e164, read]).toMatchObject([e164, { e164 }]);
      else expect([e164, country, isMobileNumber(e164) && !isMobileNumber(read.e164)]).toEqual([e164, country, false]);
    }
  }
  expect(refused).toBeGreaterThan(0);
});

it('an apostrophe in front of a number changes nothing of how it is read, in any country', () => {
  const sampleNumber = createNumberSampler(716);
  for (let sample = 0; sample < SAMPLES; sample++) {
    const { text, country } = sampleNumber();
    if (/^\s*['‘’]/.test(text)) continue;
    expect(normalizeNumber(`'${text}`, country)).toEqual(normalizeNumber(text, country));
  }
});
