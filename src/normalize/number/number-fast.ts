import { normalizeCountry } from '../country.js';
import { NON_GEOGRAPHIC, trimApostrophe } from './number-library.js';
import { findPlans, type NumberingPlan, planByCountry } from './numbering-plan.js';

const MAX_DIGITS = 15;
const MIN_DIGITS = 7;

/** A number that the library finds valid: its E.164 digits as a number, exactly, and its own country as in `AcceptedNumber`. */
export interface NumberDigits {
  readonly digits: number;
  readonly country: string;
}

/** `refused`: digits and plain punctuation that are no number, as the library finds too. Undefined: ask the library. */
type FastNumber = NumberDigits | 'refused' | undefined;

/** The common forms of numbers, and none that is reported as no number at all; all others are left to the library. */
const PLAIN = /^\+?[\d ().\u00A0-]{5,40}$/;
/** Fewer, the plus included, are reported as no number at all. */
const FEWEST_WRITTEN = 4;
/** The zeros of a decimal that a spreadsheet made: `6591234567.0`. */
const ZEROS = /\.00?$/;

/** Reads a number as the library does; undefined where only the library can tell, as for an ambiguous number. */
export function readFast(text: string, country: string | undefined): FastNumber {
  const written = trimApostrophe(text.trim());
  if (!PLAIN.test(written) || ZEROS.test(written)) return undefined;
  const digits = written.replace(/\D+/g, '');
  const hasPlus = written.startsWith('+');
  if (digits.length + Number(hasPlus) < FEWEST_WRITTEN) return undefined;
  if (hasPlus) return readInternational(digits);
  const home = country === undefined ? undefined : (planByCountry.get(country) ?? findPlan(country));
  return home && readNational(home, digits);
}

/** The plan of a country that is not written as a code in capitals. */
function findPlan(written: string): NumberingPlan | undefined {
  const found = normalizeCountry(written);
  return found.ok ? planByCountry.get(found.country) : undefined;
}

function readInternational(digits: string): FastNumber {
  const candidates = findPlans(digits);
  if (candidates === undefined) return 'refused';
  const national = digits.slice(candidates[0].callingCode.length);
  return candidates[0].countPrefix(national) === 0 ? readAmong(candidates, national) : undefined;
}

/** A national number; or, where it cannot be one, an international number that lost its plus. */
function readNational(home: NumberingPlan, digits: string): FastNumber {
  // In some countries it is the international prefix, in all it may be meant so.
  if (digits.startsWith('00')) return readDoubleZero(home, digits);
  if (home.isDialledAbroad(digits)) return undefined;
  const prefix = home.countPrefix(digits);
  if (prefix === undefined) return undefined;
  const national = digits.slice(prefix);
  const candidates = findPlans(home.callingCode) ?? [];
  if (home.hasShape(national) && national.length <= home.maxLength) {
    const found = readAmong(candidates, national);
    // The library puts a prefix back that leaves a number of impossible length.
    if (prefix > 0 && !hasPossibleLength(found, national.length)) return undefined;
    return mayHaveLostPlus(found, home, digits) ? readMobile(home, candidates, digits) : found;
  }
  if (!digits.startsWith(home.callingCode)) {
    const isRefused = [national, digits].every((each) => readAmong(candidates, each) === 'refused');
    return isRefused ? 'refused' : undefined;
  }
  if (home.hasShape(national) || home.hasShape(digits)) return undefined;
  const behindCode = digits.slice(home.callingCode.length);
  if (home.countPrefix(behindCode) !== 0 || !home.hasShape(behindCode)) return undefined;
  return readInternational(digits);
}

/** A national number that would be another one with a + in front. */
function mayHaveLostPlus(found: FastNumber, home: NumberingPlan, digits: string): boolean {
  if (typeof found !== 'object' || !home.mayLackPlus(digits)) return false;
  return String(found.digits) !== digits && readInternational(digits) !== 'refused';
}

/** A mobile phone behind the calling code of its country, that would be none without it. */
function readMobile(home: NumberingPlan, candidates: readonly NumberingPlan[], digits: string): FastNumber {
  if (candidates.length > 1 || !digits.startsWith(home.callingCode) || home.isMobile(digits) !== false)
    return undefined;
  return home.isMobile(digits.slice(home.callingCode.length)) === true ? readInternational(digits) : undefined;
}

/** If `00` is the only international prefix, there is one reading. */
function readDoubleZero(home: NumberingPlan, digits: string): FastNumber {
  const found = home.dialsDoubleZero ? readInternational(digits.slice(2)) : undefined;
  return found === 'refused' ? undefined : found;
}

function hasPossibleLength(found: FastNumber, length: number): boolean {
  return typeof found === 'object' && planByCountry.get(found.country)?.possibleLengths.has(length) === true;
}

/**
 * As in the library: the country is that of the first plan whose leading digits match, or that has none and finds the
 * number valid; else of the main plan, without its leading digits.
 */
function readAmong(candidates: readonly NumberingPlan[], national: string): FastNumber {
  for (const plan of candidates) {
    const isChosen = candidates.length > 1 && plan.hasItsLeadingDigits(national);
    if (candidates.length > 1 && plan.hasLeadingDigits && !isChosen) continue;
    if (plan.isValid(national)) return acceptAs(plan, national);
    if (isChosen) return 'refused';
  }
  const isMainAsked = candidates.length === 1 || candidates[0]?.hasLeadingDigits === false;
  return isMainAsked ? 'refused' : undefined;
}

function acceptAs({ callingCode, country = NON_GEOGRAPHIC }: NumberingPlan, national: string): FastNumber {
  const count = callingCode.length + national.length;
  if (count < MIN_DIGITS || count > MAX_DIGITS) return 'refused';
  return { digits: Number(callingCode + national), country };
}
