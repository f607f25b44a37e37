import { type AcceptedNumber, NON_GEOGRAPHIC } from './number-codes.js';
import {
  dropNationalPrefix,
  findPlans,
  type NumberingPlan,
  planByCountry,
  plansByCallingCode,
} from './numbering-plan.js';

/** Numbers as most files have them; whatever else the library may read is left to it. */
const PLAIN = /^\+?\d{5,20}$/;
const PUNCTUATED = /^\+?[\d ().\u00A0-]{5,40}$/;
const PLUS = 43;
const MAX_DIGITS = 15;
const MIN_DIGITS = 7;

/**
 * Only ever accepts: its answer is the library's own, and undefined means "ask the library", for every refusal and wherever a number
 * can be read in two ways.
 */
export function acceptFast(text: string, country: string | undefined): AcceptedNumber | undefined {
  const written = PLAIN.test(text) ? text : stripPunctuation(text);
  if (written === undefined) return undefined;
  if (written.charCodeAt(0) === PLUS) return acceptInternational(written.slice(1));
  if (country === undefined) return undefined;
  const home = planByCountry.get(country) ?? planByCountry.get(country.toUpperCase());
  return home && acceptNational(home, written);
}

/** Undefined for what holds anything but digits and plain punctuation, and for `6591234567.0`. */
function stripPunctuation(text: string): string | undefined {
  const trimmed = text.trim();
  if (!PUNCTUATED.test(trimmed) || /\.0{1,2}$/.test(trimmed)) return undefined;
  return trimmed.replace(/[^\d+]+/g, '');
}

function acceptInternational(digits: string): AcceptedNumber | undefined {
  const candidates = findPlans(digits);
  if (candidates === undefined) return undefined;
  const [main] = candidates;
  const national = digits.slice(main.callingCode.length);
  if (dropNationalPrefix(main, national) !== national) return undefined;
  return acceptAmong(candidates, national)?.accepted;
}

/** A national number; or, where it cannot be one, an international number that lost its plus. */
function acceptNational(home: NumberingPlan, digits: string): AcceptedNumber | undefined {
  if (home.internationalPrefix?.test(digits)) return undefined;
  const national = dropNationalPrefix(home, digits);
  if (national === undefined) return undefined;
  if (home.general.test(national) && national.length <= home.maxLength) {
    const found = acceptAmong(plansByCallingCode.get(home.callingCode) ?? [], national);
    // The library puts a prefix back that leaves a number of impossible length.
    if (national !== digits && !found?.plan.possibleLengths.has(national.length)) return undefined;
    return found?.accepted;
  }
  if (!digits.startsWith(home.callingCode) || home.general.test(national) || home.general.test(digits))
    return undefined;
  const shorter = digits.slice(home.callingCode.length);
  if (dropNationalPrefix(home, shorter) !== shorter || !home.general.test(shorter)) return undefined;
  return acceptInternational(digits);
}

/** As the library does it: the first plan with its leading digits, or without such that finds the number valid, is its country. */
function acceptAmong(
  candidates: readonly NumberingPlan[],
  national: string,
): { accepted: AcceptedNumber; plan: NumberingPlan } | undefined {
  for (const plan of candidates) {
    const isChosen = candidates.length > 1 && plan.leadingDigits?.test(national);
    if (candidates.length > 1 && plan.leadingDigits !== undefined && !isChosen) continue;
    if (plan.valid.test(national)) return acceptAs(plan, national);
    if (isChosen) return undefined;
  }
  return undefined;
}

function acceptAs(
  plan: NumberingPlan,
  national: string,
): { accepted: AcceptedNumber; plan: NumberingPlan } | undefined {
  const digits = plan.callingCode.length + national.length;
  if (digits < MIN_DIGITS || digits > MAX_DIGITS) return undefined;
  const e164 = `+${plan.callingCode}${national}`;
  return { accepted: { ok: true, e164, country: plan.country ?? NON_GEOGRAPHIC }, plan };
}
