import fc from 'fast-check';
import { type CountryCode, getCountries, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { describe, expect, it } from 'vitest';
import { NUMBER_CODES } from '../../../src/domain/row-codes.js';
import { normalizeByLibrary, normalizeNumber, splitNumbers } from '../../../src/normalize/number/number.js';
import { runsOf } from '../../one-in.js';

function refusal(text: string, country?: string): { code: string; reason: string } {
  const result = normalizeNumber(text, country);
  if (result.ok) throw new Error(`accepted as ${result.e164}`);
  return result;
}

describe('number', () => {
  it.each([
    ['9123 4567', 'SG', '+6591234567', 'SG'],
    ['0812-3456-7890', 'ID', '+6281234567890', 'ID'],
    ['07400 123456', 'GB', '+447400123456', 'GB'],
    ['06.12.34.56.78', 'FR', '+33612345678', 'FR'],
    ['0151/12345678', 'DE', '+4915112345678', 'DE'],
    ['06 1234 5678', 'IT', '+390612345678', 'IT'],
    ['347 123 4567', 'IT', '+393471234567', 'IT'],
    ['(212) 555-0123', 'US', '+12125550123', 'US'],
    ['(416) 555-0123', 'US', '+14165550123', 'CA'],
    ['1 212 555 0123', 'CA', '+12125550123', 'US'],
    ['(11) 91234-5678', 'BR', '+5511912345678', 'BR'],
    ['0 15 11 91234 5678', 'BR', '+5511912345678', 'BR'],
    ['09 51 234 5678', 'MM', undefined, undefined],
    ['011 65 9123 4567', 'US', '+6591234567', 'SG'],
    ['8 912 345 67 89', 'RU', '+79123456789', 'RU'],
    ['9123 4567', 'Singapore', '+6591234567', 'SG'],
    ['9123 4567', ' sgp ', '+6591234567', 'SG'],
    ['07400 123456', 'uk', '+447400123456', 'GB'],
    ['0151 12345678', 'Deutschland', '+4915112345678', 'DE'],
    // As Shopify writes it, and Volley itself in a CSV.
    ["'+44 7400 123456", 'SG', '+447400123456', 'GB'],
    [" ' 9123 4567 ", 'SG', '+6591234567', 'SG'],
    ["'\u200E(+65) 9123 4567", 'SG', '+6591234567', 'SG'],
    // As exports write all numbers of a file.
    ['="+65 9123 4567"', 'DE', '+6591234567', 'SG'],
    ['="0151 12345678"', 'DE', '+4915112345678', 'DE'],
    ['tel:+65-9123-4567', 'DE', '+6591234567', 'SG'],
    ['P:+6591234567', 'DE', '+6591234567', 'SG'],
    // 00 is a + wherever nothing else comes of it, whatever a country dials itself.
    ['0065 9123 4567', 'DE', '+6591234567', 'SG'],
    ['0065 9123 4567', 'US', '+6591234567', 'SG'],
    ['0065 9123 4567', 'SG', '+6591234567', 'SG'],
    ['(0065) 9123-4567', 'HK', '+6591234567', 'SG'],
    ["'0060123456789", 'JP', '+60123456789', 'MY'],
  ])('%s in %s is %s', (text, country, e164, owner) => {
    const result = normalizeNumber(text, country);
    if (e164 === undefined) expect(result.ok).toBe(false);
    else expect(result).toEqual({ ok: true, e164, country: owner });
  });

  it('with a + belongs to its own country, whatever the row says', () => {
    for (const country of ['SG', 'US', 'Singapore', '', undefined]) {
      expect(normalizeNumber('+44 7400 123456', country)).toEqual({ ok: true, e164: '+447400123456', country: 'GB' });
    }
  });

  it('of no country has ZZ for one', () => {
    expect(normalizeNumber('+800 1234 5678', undefined)).toEqual({ ok: true, e164: '+80012345678', country: 'ZZ' });
  });

  it('may stand among blanks, invisible marks, typographic dashes and brackets, and in other digits', () => {
    const writings = [
      '\u00A0+65\u00A09123\u00A04567 \t',
      '\u202A+6591234567\u202C',
      '\uFEFF+65 9123\u20114567',
      '+65 [9123] (4567)',
      '+65\u20139123\u22124567',
      '６５ ９１２３ ４５６７',
    ];
    for (const text of writings) expect(normalizeNumber(text, 'SG')).toMatchObject({ e164: '+6591234567' });
  });

  it('takes the country in any case and with blanks around it', () => {
    for (const country of ['SG', 'sg', ' Sg\u00A0']) expect(normalizeNumber('91234567', country).ok).toBe(true);
  });

  it.each([
    ['', 'empty', undefined],
    [' \u00A0\u200B', 'empty', undefined],
    ['n/a', 'placeholder', undefined],
    ['NULL', 'placeholder', undefined],
    ['unknown', 'placeholder', undefined],
    ['-', 'placeholder', undefined],
    ['#N/A', 'placeholder', undefined],
    ['0000000', 'placeholder', undefined],
    ['000-0000', 'placeholder', undefined],
    ['6.59123E+09', 'spreadsheet-number', undefined],
    ['6,59123E+09', 'spreadsheet-number', undefined],
    ['6.591234567E9', 'spreadsheet-number', '+6591234567'],
    ['6,591234567e+09', 'spreadsheet-number', '+6591234567'],
    ['6591234567.0', 'spreadsheet-number', '+6591234567'],
    ['91234567.00', 'spreadsheet-number', '+6591234567'],
    ['6591234567,0', 'spreadsheet-number', '+6591234567'],
    ['6,591,234,567', 'spreadsheet-number', '+6591234567'],
    ['#########', 'spreadsheet-number', undefined],
    ["''6591234567", 'stray-apostrophe', '+6591234567'],
    ["6591234567'", 'stray-apostrophe', '+6591234567'],
    ['\u2019+6591234567', 'stray-apostrophe', '+6591234567'],
    ['`91234567', 'stray-apostrophe', '+6591234567'],
    ['="+6591234567', 'stray-apostrophe', '+6591234567'],
    ['91234567/98765432', 'two-numbers', '+6591234567, +6598765432'],
    ['91234567; 98765432', 'two-numbers', '+6591234567, +6598765432'],
    ['91234567,98765432', 'two-numbers', '+6591234567, +6598765432'],
    ['+65 9123 4567 ::: +65 9876 5432', 'two-numbers', '+6591234567, +6598765432'],
    ['91234567 or 98765432', 'two-numbers', '+6591234567, +6598765432'],
    ['91234567\n98765432', 'two-numbers', '+6591234567, +6598765432'],
    ['+65 6123 4567 ext. 12', 'extension', '+6561234567'],
    ['61234567x12', 'extension', '+6561234567'],
    ['+6561234567;ext=12', 'extension', '+6561234567'],
    ['9123456O', 'letters', '+6591234560'],
    ['9l23I567', 'letters', '+6591231567'],
    ['tel:91234567', 'stray-character', '+6591234567'],
    ['whatsapp:+6591234567', 'stray-character', '+6591234567'],
    ['91234567 (home)', 'stray-character', '+6591234567'],
    ['9123\u202F4567', 'stray-character', '+6591234567'],
    ['60123456789', 'lost-plus', '+60123456789'],
    ['+9991234567', 'unknown-calling-code', undefined],
    ['+091234567', 'unknown-calling-code', undefined],
    ['9123', 'too-short', undefined],
    ['+651234', 'too-short', undefined],
    ['912345671234567', 'too-long', undefined],
    ['+65912345678901', 'too-long', undefined],
    ['9'.repeat(40).replace('9', '8'), 'too-long', undefined],
    ['51234567', 'bad-number', undefined],
    ['+6551234567', 'bad-number', undefined],
    ['call me', 'not-a-number', undefined],
    ['jane@example.com', 'not-a-number', undefined],
    ['+', 'not-a-number', undefined],
    ['91234567;phone-context=+65', 'not-a-number', undefined],
    ['x'.repeat(300), 'not-a-number', undefined],
  ])('%j in SG is refused as %s, and likely %s', (text, code, likely) => {
    const refused = refusal(text, 'SG');
    expect(refused.code).toBe(code);
    if (likely === undefined) expect(refused.reason).not.toMatch(/\+\d{7}/);
    else expect(refused.reason).toContain(likely);
  });

  it('with full digits lost to scientific notation says how to export them', () => {
    expect(refusal('6.59123E+09', 'SG').reason).toMatch(/last digits are lost.*as text/);
  });

  it('that lost its leading zero is refused where the zero belongs to the number', () => {
    const expected = { code: 'lost-zero', reason: expect.stringContaining('+390612345678') };
    expect(refusal('612345678', 'IT')).toMatchObject(expected);
  });

  it.each([
    ['49 711 123456', 'Deutschland', '+49711123456', '+4949711123456'],
    ['62211234567', 'ID', '+62211234567', '+6262211234567'],
    ['436641234567', 'DE', '+436641234567', '+49436641234567'],
  ])('%s in %s, that lost its + or its 0, is refused with both readings', (text, country, withPlus, withZero) => {
    expect(refusal(text, country)).toEqual({
      ok: false,
      code: 'lost-plus',
      reason: `The number may have lost a + (then it is ${withPlus}) or a leading 0 (then ${withZero}); write the right one with a +.`,
    });
    expect(normalizeNumber(`0${text}`, country)).toMatchObject({ e164: withZero });
  });

  it.each([
    ['491711234567', 'DE'],
    ['49 151 1234 5678', 'Deutschland'],
    ['62812345678', 'ID'],
    ['6281234567890', 'Indonesia'],
    ['436641234567', 'AT'],
  ])(
    '%s in %s is a mobile phone behind the calling code of its country, and no landline that lost its 0',
    (text, country) => {
      expect(normalizeNumber(text, country)).toMatchObject({ ok: true, e164: `+${text.replaceAll(' ', '')}` });
      expect(normalizeNumber(text, country)).toEqual(normalizeByLibrary(text, country));
    },
  );

  it('without + and country is refused, with the number that a lost plus would make it', () => {
    expect(refusal('6591234567')).toMatchObject({ code: 'no-country', reason: expect.stringContaining('+6591234567') });
    expect(refusal('6591234567', ' ').code).toBe('no-country');
    expect(refusal('91234567').reason).not.toMatch(/\+\d/);
  });

  it.each([
    ['Congo', 'write CG (Congo - Brazzaville) or CD (Congo - Kinshasa)'],
    ['XX', 'expected a name or a two-letter code such as SG'],
    ['AQ', 'Antarctica has no telephone numbers'],
  ])('without + in the country %s is refused: %s', (country, hint) => {
    expect(refusal('91234567', country)).toMatchObject({ code: 'bad-country', reason: expect.stringContaining(hint) });
  });

  it('with a full-width plus is not read as a number of the row’s country', () => {
    expect(refusal('\uFF0B16502530000', 'US')).toMatchObject({ code: 'stray-character' });
  });

  it('is refused where the library would take a decimal, or the end of a second number, for its last digits', () => {
    const askLibrary = (text: string) => parsePhoneNumberFromString(text, { defaultCountry: 'DE', extract: false });
    expect(askLibrary('6591234567.0')?.isValid()).toBe(true);
    expect(refusal('6591234567.0', 'DE').code).toBe('spreadsheet-number');
    expect(askLibrary('030 1234567/8')?.isValid()).toBe(true);
    expect(refusal('030 1234567/8', 'DE').code).toBe('two-numbers');
    expect(normalizeNumber('030/12345678', 'DE')).toMatchObject({ e164: '+493012345678' });
  });

  it('gives the same answer every time it is asked', () => {
    const cells = [
      '91234567;phone-context=+65',
      '+6591234567;phone-context=example.com',
      '+65 9123 4567',
      '9123',
      '6.5E9',
    ];
    for (const cell of cells) {
      const first = normalizeNumber(cell, 'SG');
      for (let time = 0; time < 3; time++) expect(normalizeNumber(cell, 'SG')).toEqual(first);
    }
  });

  it('is never accepted when the library refuses it, whatever the cell holds', () => {
    const characters = fc.constantFrom(
      ...'0123456789012345678901234567890123456789+-./() ,;xX#~eEoOlI\u00A0\u2011\uFF0B\u200B٣５',
    );
    const cell = fc.oneof(fc.string({ unit: characters, maxLength: 24 }), fc.string({ maxLength: 30 }));
    fc.assert(
      fc.property(cell, fc.constantFrom(...getCountries(), undefined), (text, country) => {
        const result = normalizeNumber(text, country);
        if (!result.ok) {
          expect(Object.keys(NUMBER_CODES)).toContain(result.code);
          expect(result.reason).toMatch(/^\p{Lu}|^"/u);
          return;
        }
        const trimmed = text.replace(/^[\s\u200B]+|[\s\u200B]+$/g, '');
        const options = country === undefined ? {} : { defaultCountry: country as CountryCode };
        const parsed = parsePhoneNumberFromString(trimmed, { ...options, extract: false });
        expect(parsed?.isValid()).toBe(true);
        expect(result.e164).toBe(parsed?.number);
        expect(result.e164).toMatch(/^\+[1-9]\d{6,14}$/);
      }),
      { numRuns: runsOf(3000) },
    );
  });

  it('of hostile length or build costs no time', () => {
    const cells = [
      '1 '.repeat(5_000_000),
      '1-'.repeat(124),
      `1${' '.repeat(247)}x`,
      `123${' ,'.repeat(120)}a`,
      '+'.repeat(250),
    ];
    cells.push(
      `1;phone-context=${'1'.repeat(200)}!`,
      '1~'.repeat(124),
      `${'1#'.repeat(124)}a`,
      '1,234'.repeat(49),
      '1or'.repeat(80),
    );
    for (const cell of cells) expect(normalizeNumber(cell, 'DE').ok).toBe(false);
  }, 3_000);
});

it.each([
  ['+6591234567, +6591234568;+49 30 123456', ['+6591234567', '+6591234568', '+49 30 123456']],
  ['+65 9123 4567 +6591234568\n9123 4569\r\n', ['+65 9123 4567', '+6591234568', '9123 4569']],
  [' ; ,', []],
])('the numbers of %j are parted where one cannot go on', (text, numbers) => {
  expect(splitNumbers(text)).toEqual(numbers);
});
