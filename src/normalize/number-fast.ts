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
/** Of fewer it is said that they are no number at all. */
const FEWEST_CHARACTERS = 4;
const MAX_DIGITS = 15;
const MIN_DIGITS = 7;

/** `refused`: digits and plain punctuation that are no number, as the library finds too. Undefined: ask the library. */
export type FastNumber = AcceptedNumber | 'refused' | undefined;

/** Its answers are the library's own. It has none wherever a number can be read in two ways. */
export function readFast(text: string, country: string | undefined): FastNumber {
  const written = PLAIN.test(text) ? text : stripPunctuation(text);
  if (written === undefined) return undefined;
  if (written.charCodeAt(0) === PLUS) return readInternational(written.slice(1));
  if (country === undefined) return undefined;
  const home = planByCountry.get(country) ?? planByCountry.get(country.toUpperCase());
  return home && readNational(home, written);
}

/** Undefined for what is refused, and for what only the library can tell. */
export function acceptFast(text: string, country: string | undefined): AcceptedNumber | undefined {
  const read = readFast(text, country);
  return read === 'refused' ? undefined : read;
}

/** Undefined for what holds anything but digits and plain punctuation, or hardly a digit, and for `6591234567.0`. */
function stripPunctuation(text: string): string | undefined {
  const trimmed = text.trim();
  if (!PUNCTUATED.test(trimmed) || /\.0{1,2}$/.test(trimmed)) return undefined;
  const written = trimmed.replace(/[^\d+]+/g, '');
  return written.length < FEWEST_CHARACTERS ? undefined : written;
}

function readInternational(digits: string): FastNumber {
  const candidates = findPlans(digits);
  if (candidates === undefined) return undefined;
  const [main] = candidates;
  const national = digits.slice(main.callingCode.length);
  if (dropNationalPrefix(main, national) !== national) return undefined;
  return readAmong(candidates, national);
}

/** A national number; or, where it cannot be one, an international number that lost its plus. */
function readNational(home: NumberingPlan, digits: string): FastNumber {
  if (home.internationalPrefix?.test(digits)) return undefined;
  const national = dropNationalPrefix(home, digits);
  if (national === undefined) return undefined;
  const candidates = plansByCallingCode.get(home.callingCode) ?? [];
  if (home.general.test(national) && national.length <= home.maxLength) {
    const found = readAmong(candidates, national);
    // The library puts a prefix back that leaves a number of impossible length.
    if (national !== digits && !hasPossibleLength(found, national.length)) return undefined;
    return found;
  }
  if (!digits.startsWith(home.callingCode)) {
    const isRefused = readAmong(candidates, national) === 'refused' && readAmong(candidates, digits) === 'refused';
    return isRefused ? 'refused' : undefined;
  }
  if (home.general.test(national) || home.general.test(digits)) return undefined;
  const shorter = digits.slice(home.callingCode.length);
  if (dropNationalPrefix(home, shorter) !== shorter || !home.general.test(shorter)) return undefined;
  return readInternational(digits);
}

function hasPossibleLength(found: FastNumber, length: number): boolean {
  return typeof found === 'object' && planByCountry.get(found.country)?.possibleLengths.has(length) === true;
}

/**
 * As the library does it: the first plan with its leading digits, or without such that finds the number valid, is its country. Where
 * none is, it asks the main plan once more, without its leading digits.
 */
function readAmong(candidates: readonly NumberingPlan[], national: string): FastNumber {
  for (const plan of candidates) {
    const isChosen = candidates.length > 1 && plan.leadingDigits?.test(national);
    if (candidates.length > 1 && plan.leadingDigits !== undefined && !isChosen) continue;
    if (plan.valid.test(national)) return acceptAs(plan, national);
    if (isChosen) return 'refused';
  }
  const isMainAsked = candidates.length === 1 || candidates[0]?.leadingDigits === undefined;
  return isMainAsked ? 'refused' : undefined;
}

function acceptAs(plan: NumberingPlan, national: string): FastNumber {
  const digits = plan.callingCode.length + national.length;
  if (digits < MIN_DIGITS || digits > MAX_DIGITS) return 'refused';
  const e164 = `+${plan.callingCode}${national}`;
  return { ok: true, e164, country: plan.country ?? NON_GEOGRAPHIC };
}
