import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** What people put between the digits; the service takes it out. */
const FORMATTING = /[\s()[\].-]/g;
const WITH_PLUS = /^\+[1-9][0-9]{6,14}$/;

export function isCountry(country: string): country is CountryCode {
  return isSupportedCountry(country);
}

/**
 * The international number, without plus, of a destination as a person writes it; undefined when it is invalid.
 * Without a plus it is read in its country; where there is none either, the digits must begin with a country's prefix.
 */
export function readDestination(written: string, country: CountryCode | undefined): number | undefined {
  const compact = written.replace(FORMATTING, '');
  if (compact.startsWith('+')) return WITH_PLUS.test(compact) ? Number(compact) : undefined;
  if (!/^[0-9]{3,17}$/.test(compact)) return undefined;
  const number =
    country === undefined
      ? parsePhoneNumberFromString(`+${compact}`, { extract: false })
      : parsePhoneNumberFromString(compact, { defaultCountry: country, extract: false });
  return number?.isPossible() ? Number(number.number) : undefined;
}
