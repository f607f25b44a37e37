import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { readTextFormula } from '../../domain/formula-cell.js';
import type { NumberCode } from '../../domain/row-codes.js';
import { normalizeCountry } from '../country.js';
import { planByCountry } from './numbering-plan.js';

/** E.164 with its +, and the country of the number itself: ISO alpha-2, or `NON_GEOGRAPHIC`. */
export interface AcceptedNumber {
  readonly ok: true;
  readonly e164: string;
  readonly country: string;
}

export interface RefusedNumber {
  readonly ok: false;
  readonly code: NumberCode;
  /** A sentence for the owner of the file; may suggest a value. */
  readonly reason: string;
}

/** Stands for the country of numbers that belong to none (+800, +883 …): ISO 3166 keeps ZZ free for such use. */
export const NON_GEOGRAPHIC = 'ZZ';

/** Longest text that the library reads. */
const MAX_TEXT = 250;
/** E.164 has at most 15 digits; the service documents a minimum of 7. */
const E164 = /^\+[1-9]\d{6,14}$/;
/** Digits and characters that the library ignores. With anything else it finds no number, or one with an extension. */
const NUMBER_CHARACTERS =
  /^\+?[0-9\uFF10-\uFF19\u0660-\u0669\u06F0-\u06F9 \u00A0\u00AD\u200B\u2060\u3000\-\u2010-\u2015\u2212\u30FC\uFF0D/\uFF0F.\uFF0E()\uFF08\uFF09\uFF3B\uFF3D[\]~\u2053\u223C\uFF5E]+$/;
const INVISIBLE = /[\s\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/;

/**
 * Accepts what libphonenumber-js finds valid, as it reads it, but for texts that it must not see and what `readTwoWays` reads otherwise or
 * excludes; all else is undefined.
 */
export function acceptByLibrary(value: string, country: string | undefined): AcceptedNumber | undefined {
  // It ignores a full-width plus, and so reads the number in the wrong country; and its patterns for `;phone-context=` keep
  // state between calls, so that results vary.
  if (!isNumberLike(value) || endsLikeDecimal(value)) return undefined;
  const defaultCountry = value.startsWith('+') ? undefined : findNumberCountry(country);
  if (defaultCountry === undefined && !value.startsWith('+')) return undefined;
  if (/[/\uFF0F]/.test(value) && holdsTwoNumbers(value, country)) return undefined;
  const readings = readTwoWays(value, defaultCountry);
  if (readings === undefined) return askLibrary(value, defaultCountry);
  return readings.length === 1 ? readings[0] : undefined;
}

/**
 * What a number without + may be that begins with `00`, or without the 0 with which its country dials. `00` is a + in most countries, and is
 * written so in all of them; a spreadsheet takes off both + and 0. If the reading with a + and the one dialled in its country differ, it is
 * refused as ambiguous: in Singapore 003 36… is a call to Hungary through a carrier, in Germany 49 711… may be in Stuttgart, or lack
 * its 0. But behind the own calling code a mobile phone, and no landline, is what people write: 62 812… in Indonesia. Behind that of another
 * country it is refused where it is a mobile phone there, and none here: 43 664… in Germany. Undefined for any other.
 */
export function readTwoWays(value: string, country: CountryCode | undefined): readonly AcceptedNumber[] | undefined {
  if (country === undefined || value.startsWith('+')) return undefined;
  const digits = readDigits(value);
  const isDoubleZero = digits.startsWith('00');
  const plan = planByCountry.get(country);
  if (!isDoubleZero && plan?.mayLackPlus(digits) !== true) return undefined;
  const international = askLibrary(`+${isDoubleZero ? digits.slice(2) : digits}`, undefined);
  const dialled = askLibrary(value, country);
  const isOne = international?.e164 === dialled?.e164 || (dialled === undefined && !isDoubleZero);
  if (isOne) return dialled === undefined ? [] : [dialled];
  const both = [international, dialled].filter((reading) => reading !== undefined);
  if (isDoubleZero || both.length < 2) return both;
  const isOwn = digits.startsWith(plan?.callingCode ?? '');
  const [isMobile, isDialledMobile] = both.map(({ e164 }) => isMobileNumber(e164));
  if (isMobile !== true || isDialledMobile !== false) return isOwn ? both : both.slice(1);
  return isOwn ? both.slice(0, 1) : both;
}

function askLibrary(value: string, defaultCountry: CountryCode | undefined): AcceptedNumber | undefined {
  const parsed = parsePhoneNumberFromString(value, { extract: false, ...(defaultCountry && { defaultCountry }) });
  if (parsed === undefined || parsed.ext !== undefined) return undefined;
  if (!parsed.isValid() || !E164.test(parsed.number)) return undefined;
  return { ok: true, e164: parsed.number, country: parsed.country ?? NON_GEOGRAPHIC };
}

/** Whether a number in E.164 may be one of a mobile phone. */
export function isMobileNumber(e164: string): boolean {
  const type = parsePhoneNumberFromString(e164)?.getType();
  return type === 'MOBILE' || type === 'FIXED_LINE_OR_MOBILE';
}

/** The country as the library knows it; undefined for none, for an unknown code, and for a country without phones. */
export function findNumberCountry(country: string | undefined): CountryCode | undefined {
  if (country === undefined) return undefined;
  const found = normalizeCountry(country);
  return found.ok && isSupportedCountry(found.country) ? found.country : undefined;
}

/**
 * Takes blanks off both ends, the invisible marks that come with numbers copied from address books, an apostrophe in front, what
 * exports put around every number of a file, and brackets off a calling code.
 */
export function trimNumber(text: string): string {
  const bare = readTextFormula(trimInvisible(text)).replace(MARK, '');
  return trimInvisible(trimApostrophe(bare)).replace(BRACKETED_CODE, '$1 ');
}

function trimInvisible(text: string): string {
  const trimmed = text.trim();
  let start = 0;
  let end = trimmed.length;
  while (start < end && INVISIBLE.test(trimmed.charAt(start))) start++;
  while (end > start && INVISIBLE.test(trimmed.charAt(end - 1))) end--;
  return trimmed.slice(start, end);
}

/** Spreadsheets and Shopify put it in front of a number to keep it a text. */
export function trimApostrophe(value: string): string {
  return value.startsWith("'") ? value.slice(1).trimStart() : value;
}

/** `tel:+65…` of a link (RFC 3966), `p:+65…` of the leads of an advertisement. */
const MARK = /^(?:tel|p):\s*(?=\+)/i;
/** `(+65) 9123 4567`: the library wants the plus in front. */
const BRACKETED_CODE = /^\(\s*(\+\d{1,3})\s*\)/;

/** Digits of a number, in whatever script they are written. */
export function readDigits(value: string): string {
  return value
    .normalize('NFKC')
    .replace(/[\u0660-\u0669\u06F0-\u06F9]/g, (digit) => String(digit.charCodeAt(0) & 15))
    .replace(/\D/g, '');
}

/** What a spreadsheet makes of a number in a numeric column: `6591234567.0`. The library reads its 0 as a digit. */
export function endsLikeDecimal(value: string): boolean {
  return /^[+-]?\d{6,}\.0{1,2}$/.test(value);
}

/** Whether a text has the characters of a number and no others: a plus in front, digits, punctuation. */
export function isNumberLike(value: string): boolean {
  return value.length <= MAX_TEXT && NUMBER_CHARACTERS.test(value);
}

/** The library ignores a slash: `030 1234567/8`, two lines of one office, would be the number 030 12345678. */
function holdsTwoNumbers(value: string, country: string | undefined): boolean {
  const parts = value.split(/[/\uFF0F]/);
  const [first = '', ...others] = parts.map(trimNumber);
  if (readDigits(first).length >= 6 && others.every((part) => /^\d{1,2}$/.test(part))) return true;
  return [first, ...others].every((part) => acceptByLibrary(part, country) !== undefined);
}
