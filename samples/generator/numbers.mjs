import { parsePhoneNumberFromString } from 'libphonenumber-js/max';

/**
 * Where the digits of each country begin and how many follow. DE is the range that its regulator keeps for films, US the
 * 555-01xx numbers; the ranges kept for films in GB and FR are no valid numbers to libphonenumber, so there, and
 * in countries that keep none, the digits are random. They may be somebody's: send them to a sandbox only.
 */
const RANGES = {
  AU: [['+6149157', 4]],
  CI: [
    ['+22507', 8],
    ['+22505', 8],
  ],
  DE: [
    ['+49176040690', 2],
    ['+4915223433', 3],
  ],
  FR: [['+33601', 6]],
  GB: [['+447911', 6]],
  ID: [
    ['+62812', 8],
    ['+62857', 8],
  ],
  IN: [['+9198', 8]],
  IT: [['+39347', 7]],
  MY: [
    ['+6012', 7],
    ['+6019', 7],
  ],
  PH: [
    ['+63917', 7],
    ['+63928', 7],
  ],
  SG: [
    ['+658', 7],
    ['+659', 7],
  ],
  TH: [['+6681', 7]],
  US: ['201', '212', '312', '415', '512', '617', '702', '808'].map((area) => [`+1${area}55501`, 2]),
  VN: [
    ['+8490', 7],
    ['+8498', 7],
  ],
};

/** How people write a number; each takes the parsed number. */
const WRITINGS = {
  e164: (number) => number.number,
  spaces: (number) => number.formatInternational(),
  dashes: (number) => number.formatInternational().replaceAll(' ', '-'),
  dots: (number) => number.formatInternational().replaceAll(' ', '.'),
  brackets: (number) => `+${number.countryCallingCode} (0)${number.nationalNumber}`,
  'double-zero': (number) => `00${number.number.slice(1)}`,
  national: (number) => number.formatNational(),
  'national-digits': (number) => number.formatNational().replaceAll(/\D/g, ''),
  padded: (number) => ` ${number.number} `,
};

/** Styles of a file from a program, and of one that people filled. */
export const E164_MOSTLY = ['e164', 'e164', 'e164', 'spaces'];
export const EVERY_WRITING = Object.keys(WRITINGS);

/**
 * Takes care that no number is given out twice.
 *
 * @param {import('./random.mjs').Random} random
 */
export function createNumbers(random) {
  const taken = new Set();
  return {
    /** @returns {string} a mobile number in E.164 that libphonenumber calls valid and that was not given out before */
    take(country) {
      for (let attempt = 0; attempt < 10_000; attempt++) {
        const [prefix, length] = random.pick(RANGES[country]);
        const e164 = `${prefix}${random.digits(length)}`;
        if (taken.has(e164) || !isMobile(e164)) continue;
        taken.add(e164);
        return e164;
      }
      throw new Error(`Cannot draw a number of ${country}: its ranges are used up or hold no valid number`);
    },
  };
}

/**
 * Writes a number in one of the styles, such that it reads back as the same number in its country; a style that does not
 * (00 is no way to dial out of Singapore) gives way to E.164.
 */
export function writeNumber(e164, style) {
  const number = parsePhoneNumberFromString(e164);
  const written = WRITINGS[style](number);
  return readNumber(written, number.country) === e164 ? written : e164;
}

/** Undefined for what is no valid number in the country. */
export function readNumber(written, country) {
  const number = parsePhoneNumberFromString(written.trim(), { defaultCountry: country, extract: false });
  return number?.isValid() ? number.number : undefined;
}

function isMobile(e164) {
  const type = parsePhoneNumberFromString(e164)?.getType();
  return type === 'MOBILE' || type === 'FIXED_LINE_OR_MOBILE';
}
