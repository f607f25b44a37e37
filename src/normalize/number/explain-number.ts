import type { NumberCode } from '../../domain/row-codes.js';
import { nameCountry, normalizeCountry } from '../country.js';
import { readFast } from './number-fast.js';
import {
  type AcceptedNumber,
  acceptByLibrary,
  endsLikeDecimal,
  findNumberCountry,
  isNumberLike,
  type RefusedNumber,
  readDigits,
  readTwoWays,
  trimNumber,
} from './number-library.js';
import { findPlans, type NumberingPlan, planByCountry } from './numbering-plan.js';

/** The maximum of E.164. */
const MAX_DIGITS = 15;
/** The minimum that the service documents. */
const MIN_DIGITS = 7;

/** Explains why a number is refused: first by how it is written, then by its country, then by its digits. */
export function explainRefusal(value: string, country: string | undefined): RefusedNumber {
  return explainNumberFormat(value, country) ?? explainNumber(value, readDigits(value), country);
}

/**
 * The fault of the country that a row names for its number, whatever the number's own faults; undefined without a
 * country, or if the number has a +.
 */
export function explainOwnCountry(text: string, country: string): RefusedNumber | undefined {
  if (country.trim() === '' || findNumberCountry(country) !== undefined || /^[\s']*[+\uFF0B]/.test(text))
    return undefined;
  return explainCountry('', country);
}

function explainNumber(value: string, digits: string, country: string | undefined): RefusedNumber {
  if (value.startsWith('+')) return explainInternational(digits, country);
  const home = findNumberCountry(country);
  const plan = home && planByCountry.get(home);
  const readings = readTwoWays(value, home) ?? [];
  if (readings.length > 1 && home !== undefined) return explainTwoReadings(readings, { value, home });
  return plan === undefined ? explainCountry(digits, country) : explainNational(digits, plan);
}

function explainTwoReadings(
  [international, dialled]: readonly AcceptedNumber[],
  { value, home }: { value: string; home: string },
): RefusedNumber {
  if (!readDigits(value).startsWith('00')) return refuseEither('lost-plus', international?.e164, dialled?.e164);
  return refuse(
    'double-zero',
    `The number begins with 00: it is ${international?.e164} if that stands for a +, or ${dialled?.e164} if it is dialled in ${nameCountry(home)}; write the right one with a +.`,
  );
}

function explainCountry(digits: string, country: string | undefined): RefusedNumber {
  const international = accept(`+${digits.replace(/^00/, '')}`, undefined);
  const instead = international === undefined ? '' : ` If it is ${international}, write that.`;
  if (country === undefined || country.trim() === '') {
    const hint = instead || ' Write it with + and the calling code, or name the country.';
    return refuse('no-country', `The number has no +, and no country is set.${hint}`);
  }
  const found = normalizeCountry(country);
  const reason = found.ok ? `${nameCountry(found.country)} has no telephone numbers of its own.` : found.reason;
  return refuse('bad-country', `${reason}${instead}`);
}

function explainInternational(digits: string, country: string | undefined): RefusedNumber {
  const plans = findPlans(digits);
  if (plans === undefined) {
    const national = accept(digits, country);
    const instead = national === undefined ? '' : ` The number is probably ${national}.`;
    return refuse(
      'unknown-calling-code',
      `The digits after the + do not begin with a country's calling code.${instead}`,
    );
  }
  const national = digits.slice(plans[0].callingCode.length);
  return explainLength(national, plans, plans.length === 1 ? nameOf(plans[0]) : `+${plans[0].callingCode}`);
}

function explainNational(digits: string, plan: NumberingPlan): RefusedNumber {
  const prefix = plan.countPrefix(digits) ?? 0;
  return explainLoss(digits, plan) ?? explainLength(digits.slice(prefix), [plan], nameOf(plan));
}

/** Another writing of the number, if that is a number. */
function accept(text: string, country: string | undefined): string | undefined {
  const read = readFast(text, country);
  if (read === undefined) return acceptByLibrary(text, country)?.e164;
  return read === 'refused' ? undefined : `+${read.digits}`;
}

/** What a spreadsheet removes from a number: the plus, or the leading zero. */
function explainLoss(digits: string, plan: NumberingPlan): RefusedNumber | undefined {
  const withZero = digits.startsWith('0') ? undefined : accept(`0${digits}`, plan.country);
  const withPlus = accept(`+${digits.replace(/^00/, '')}`, undefined);
  if (withZero !== undefined && withPlus !== undefined) return refuseEither('lost-zero', withPlus, withZero);
  if (withZero !== undefined) return refuse('lost-zero', `The number lost its leading 0; it is probably ${withZero}.`);
  if (withPlus !== undefined) return refuse('lost-plus', `The number lost its +; it is probably ${withPlus}.`);
  return undefined;
}

function refuseEither(code: NumberCode, withPlus: string | undefined, withZero: string | undefined): RefusedNumber {
  const either = `The number may have lost a + (then it is ${withPlus}) or a leading 0 (then ${withZero})`;
  return refuse(code, `${either}; write the right one with a +.`);
}

function explainLength(national: string, plans: readonly NumberingPlan[], where: string): RefusedNumber {
  const callingCode = plans[0]?.callingCode ?? '';
  const total = callingCode.length + national.length;
  if (total < MIN_DIGITS || plans.every(({ minLength }) => national.length < minLength)) {
    return refuse('too-short', `The number has too few digits for ${where}.`);
  }
  if (total > MAX_DIGITS || plans.every(({ maxLength }) => national.length > maxLength)) {
    return refuse('too-long', `The number has too many digits for ${where}.`);
  }
  return refuse('bad-number', `There is no such number in ${where}; check its digits.`);
}

function nameOf(plan: NumberingPlan): string {
  return plan.country === undefined ? `+${plan.callingCode}` : nameCountry(plan.country);
}

function refuse(code: NumberCode, reason: string): RefusedNumber {
  return { ok: false, code, reason };
}

/** Rules in the order in which they are asked of a refused cell: an earlier one explains more. */
const RULES: readonly (typeof explainSpreadsheet)[] = [
  (value) => (value === '' ? refuse('empty', 'The cell is empty.') : undefined),
  explainOverlong,
  (value) => explainPlaceholder(value, readDigits(value)),
  explainSpreadsheet,
  explainApostrophe,
  explainSeveral,
  explainExtension,
  explainLetters,
  explainStrays,
];

const MAX_TEXT = 250;
const PLACEHOLDERS = new Set(
  'n/a n.a. na n.a #n/a #n/a! #na null nil none no unknown undefined nan tbd tba tbc - -- --- — – . ? ?? ??? x xx xxx #ref! #value! #name? #null! #num! #div/0! missing blank empty test'.split(
    ' ',
  ),
);
const LETTERS_LIKE_DIGITS = /[oOlI\u041E\u043E]/;
const SEPARATORS = /[/\uFF0F,;|&\n\r]|:::|\b(?:or|and|und|oder|et|ou)\b/i;
const EXTENSION = /^(.*\d[^\da-z]*?)(?:;\s*ext=|\be?xt(?:ension|n)?\b\.?:?|\bint\.?|x|#|~|,)\s*(\d{1,9})#?$/i;

/** Explains a fault in how a number is written; undefined when only its digits or its country can be at fault. */
export function explainNumberFormat(value: string, country: string | undefined): RefusedNumber | undefined {
  for (const rule of RULES) {
    const refused = rule(value, country);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

function explainOverlong(value: string): RefusedNumber | undefined {
  if (value.length <= MAX_TEXT) return undefined;
  return refuse('not-a-number', `The cell has ${value.length} characters, far more than a phone number.`);
}

function explainPlaceholder(value: string, digits: string): RefusedNumber | undefined {
  const isWord = PLACEHOLDERS.has(value.toLowerCase());
  const isFiller =
    /^[+\d\s().-]+$/.test(value) && (/^0+$/.test(digits) || /^(\d)\1{6,}$/.test(digits) || digits === '123456789');
  if (!isWord && !isFiller) return undefined;
  return refuse('placeholder', 'The cell contains a placeholder, not a number; write the number or remove the row.');
}

function explainSpreadsheet(value: string, country: string | undefined): RefusedNumber | undefined {
  const scientific = /^\+?(\d)(?:[.,](\d+))?E\+?(\d{1,3})$/i.exec(value);
  if (scientific) return explainScientific(scientific, country);
  if (/^#+$/.test(value)) {
    return refuse(
      'spreadsheet-number',
      'A spreadsheet wrote #### because the column was too narrow; widen it and export again.',
    );
  }
  const withDecimal = endsLikeDecimal(value.replace(',', '.'));
  const withThousands = /^\+?\d{1,3}(?:,\d{3}){2,}$/.test(value);
  if (!withDecimal && !withThousands) return undefined;
  const digits = withDecimal ? value.replace(/[.,]0+$/, '') : value.replaceAll(',', '');
  const what = withDecimal ? 'added a decimal to' : 'put commas into';
  return refuse('spreadsheet-number', `A spreadsheet ${what} this number${probably(guess(digits, country))}`);
}

function explainScientific(match: RegExpExecArray, country: string | undefined): RefusedNumber {
  const [, first = '', fraction = '', exponent = ''] = match;
  const what = `A spreadsheet shortened this number to ${match[0]}`;
  if (fraction.length < Number(exponent)) {
    return refuse(
      'spreadsheet-number',
      `${what}, and its last digits are lost; format the column as text in the original file and export it again.`,
    );
  }
  const digits = first + fraction;
  const likely = fraction.length === Number(exponent) ? guess(digits, country) : undefined;
  return refuse('spreadsheet-number', `${what}${probably(likely)} Format the column as text before you export it.`);
}

function explainApostrophe(value: string, country: string | undefined): RefusedNumber | undefined {
  const bare = value
    .replace(/^[='"\u2018\u2019\u201C\u201D`\u00B4]+/, '')
    .replace(/['"\u2018\u2019\u201C\u201D`\u00B4]+$/, '');
  if (bare === value || !isNumberLike(bare) || readDigits(bare).length < 3) return undefined;
  return refuse(
    'stray-apostrophe',
    `There is an apostrophe or quote around the number${probably(guess(trimNumber(bare), country))}`,
  );
}

function explainSeveral(value: string, country: string | undefined): RefusedNumber | undefined {
  const parts = value.split(SEPARATORS).map(trimNumber);
  const numbers = parts.filter((part) => readDigits(part).length >= 6);
  const isAbbreviated = numbers.length === 1 && parts.length > 1 && /^[^,;]*[/\uFF0F]\s*\d{1,2}$/.test(value);
  if (numbers.length < 2 && !isAbbreviated) return undefined;
  const valid = numbers.flatMap((part) => acceptByLibrary(part, country)?.e164 ?? []);
  const which = valid.length === 0 ? '' : ` (${valid.slice(0, 3).join(', ')})`;
  return refuse('two-numbers', `The cell contains more than one number${which}; keep one, or make a row for each.`);
}

function explainExtension(value: string, country: string | undefined): RefusedNumber | undefined {
  const match = EXTENSION.exec(value);
  const likely = match?.[1] === undefined ? undefined : acceptByLibrary(trimNumber(match[1]), country)?.e164;
  if (likely === undefined) return undefined;
  return refuse('extension', `The number has an extension, which no message can reach; without it, it is ${likely}.`);
}

function explainLetters(value: string, country: string | undefined): RefusedNumber | undefined {
  if (!LETTERS_LIKE_DIGITS.test(value) || readDigits(value).length < 3) return undefined;
  const digits = value.replace(/[oO\u041E\u043E]/g, '0').replace(/[lI]/g, '1');
  if (!isNumberLike(digits)) return undefined;
  return refuse(
    'letters',
    `There are letters in place of digits (O for 0, l or I for 1)${probably(guess(digits, country))}`,
  );
}

function explainStrays(value: string, country: string | undefined): RefusedNumber | undefined {
  if (isNumberLike(value) && readDigits(value).length >= 3) return undefined;
  const runs = value.replaceAll('\uFF0B', '+').match(/\+?[\p{Nd}\s()[\].\-\u2010-\u2015]+/gu) ?? [];
  const [only, ...others] = runs.filter((run) => readDigits(run) !== '');
  const plus = only?.startsWith('+') ? '+' : '';
  const likely = only === undefined || others.length > 0 ? undefined : guess(plus + readDigits(only), country);
  if (likely !== undefined) {
    return refuse('stray-character', `There are characters that do not belong in a number${probably(likely)}`);
  }
  return refuse('not-a-number', 'The cell does not contain a phone number.');
}

/** Read unchanged, else with the + or the 0 that it may have lost. */
function guess(digits: string, country: string | undefined): string | undefined {
  const read = (text: string) => acceptByLibrary(text, country)?.e164;
  if (digits.startsWith('+')) return read(digits);
  return read(digits) ?? read(`+${digits}`) ?? read(`0${digits}`);
}

function probably(e164: string | undefined): string {
  return e164 === undefined ? '; check it against the source.' : `; it is probably ${e164}.`;
}
