import type { NumberCode } from '../../domain/row-codes.js';
import { nameCountry, normalizeCountry } from '../country.js';
import { explainNumberFormat, explainPlaceholder } from './explain-number-format.js';
import { readFast } from './number-fast.js';
import {
  type AcceptedNumber,
  acceptByLibrary,
  findNumberCountry,
  type RefusedNumber,
  readDigits,
  readDoubleZero,
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

/** The same, faster, for digits and plain punctuation, to which most format rules cannot apply. */
export function explainDigits(value: string, country: string | undefined): RefusedNumber {
  const digits = value.replace(/\D+/g, '');
  return explainPlaceholder(value, digits) ?? explainNumber(value, digits, country);
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
  const readings = readDoubleZero(value, home) ?? [];
  if (readings.length > 1 && home !== undefined) return explainTwoReadings(readings, home);
  return plan === undefined ? explainCountry(digits, country) : explainNational(digits, plan);
}

function explainTwoReadings([international, dialled]: readonly AcceptedNumber[], country: string): RefusedNumber {
  return refuse(
    'double-zero',
    `The number begins with 00: it is ${international?.e164} if that stands for a +, or ${dialled?.e164} if it is dialled in ${nameCountry(country)}; write the right one with a +.`,
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
  if (withZero !== undefined && withPlus !== undefined) {
    return refuse(
      'lost-zero',
      `The number may have lost a leading 0 (then it is ${withZero}) or a + (then ${withPlus}).`,
    );
  }
  if (withZero !== undefined) return refuse('lost-zero', `The number lost its leading 0; it is probably ${withZero}.`);
  if (withPlus !== undefined) return refuse('lost-plus', `The number lost its +; it is probably ${withPlus}.`);
  return undefined;
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
