import { READS_PLAIN_NUMBERS } from '../../domain/fast-path.js';
import { normalizeCountry } from '../country.js';
import { NON_GEOGRAPHIC } from './number-result.js';
import { findPlans, type NumberingPlan, planByCountry, plansByCallingCode } from './numbering-plan.js';
import { NumberScan } from './scan-digits.js';

const MAX_DIGITS = 15;
const MIN_DIGITS = 7;

/** A number that the library finds valid: its E.164 digits as a number, exactly, and its own country as in `AcceptedNumber`. */
export interface NumberDigits {
  readonly digits: number;
  readonly country: string;
}

/** `refused`: digits and plain punctuation that are no number, as the library finds too. Undefined: ask the library. */
export type FastNumber = NumberDigits | 'refused' | undefined;

/** Reused for every number. */
const written = new NumberScan();

/** Answers equal the library's. It has none for an ambiguous number. */
export function readFast(text: string, country: string | undefined): FastNumber {
  return READS_PLAIN_NUMBERS && written.readText(text) ? readWritten(written, country) : undefined;
}

/** The same, of UTF-8 from `start` to `end`. */
export function readFastBytes(
  bytes: Uint8Array,
  { start, end, country }: { start: number; end: number; country: string | undefined },
): FastNumber {
  return READS_PLAIN_NUMBERS && written.readBytes(bytes, start, end) ? readWritten(written, country) : undefined;
}

function readWritten({ hasPlus, digits, length }: NumberScan, country: string | undefined): FastNumber {
  if (hasPlus) return readInternational(digits, length);
  if (country === undefined) return undefined;
  const home = planByCountry.get(country) ?? findPlan(country);
  return home && readNational(home, digits, length);
}

/** For a country that is not written as a code in capitals. */
function findPlan(written: string): NumberingPlan | undefined {
  const found = normalizeCountry(written);
  return found.ok ? planByCountry.get(found.country) : undefined;
}

function readInternational(digits: Uint8Array, length: number): FastNumber {
  const candidates = findPlans(digits, length);
  if (candidates === undefined) return undefined;
  const [main] = candidates;
  const from = main.callingCode.length;
  if (main.nationalPrefix.countDigits(digits, from, length) !== 0) return undefined;
  return readAmong(candidates, { digits, from, to: length });
}

/** A national number; or, where it cannot be one, an international number that lost its plus. */
function readNational(home: NumberingPlan, digits: Uint8Array, to: number): FastNumber {
  // In some countries it is the international prefix, in all it may be meant so.
  if (to > 1 && digits[0] === 0 && digits[1] === 0) return readDoubleZero(home, digits, to);
  if (home.internationalPrefix.matchStart(digits, 0, to) !== undefined) return undefined;
  const from = home.nationalPrefix.countDigits(digits, 0, to);
  if (from === undefined) return undefined;
  const candidates = plansByCallingCode.get(home.callingCode) ?? [];
  if (home.general.matches(digits, from, to) && to - from <= home.maxLength) {
    const found = readAmong(candidates, { digits, from, to });
    // The library puts a prefix back that leaves a number of impossible length.
    if (from > 0 && !hasPossibleLength(found, to - from)) return undefined;
    return found;
  }
  if (!startsWith(digits, to, home.callingCode)) {
    const isRefused = [from, 0].every((start) => readAmong(candidates, { digits, from: start, to }) === 'refused');
    return isRefused ? 'refused' : undefined;
  }
  if (home.general.matches(digits, from, to) || home.general.matches(digits, 0, to)) return undefined;
  const behindCode = home.callingCode.length;
  if (home.nationalPrefix.countDigits(digits, behindCode, to) !== 0) return undefined;
  if (!home.general.matches(digits, behindCode, to)) return undefined;
  return readInternational(digits, to);
}

/** If `00` is the only international prefix, there is one reading. */
function readDoubleZero(home: NumberingPlan, digits: Uint8Array, to: number): FastNumber {
  if (!home.dialsDoubleZero) return undefined;
  const found = readInternational(digits.subarray(2), to - 2);
  return found === 'refused' ? undefined : found;
}

function startsWith(digits: Uint8Array, length: number, callingCode: string): boolean {
  return callingCode === digits.subarray(0, Math.min(length, callingCode.length)).join('');
}

function hasPossibleLength(found: FastNumber, length: number): boolean {
  return typeof found === 'object' && planByCountry.get(found.country)?.possibleLengths.has(length) === true;
}

/** A national number: digits from `from` to `to`. */
interface National {
  readonly digits: Uint8Array;
  readonly from: number;
  readonly to: number;
}

/**
 * As in the library: the country is that of the first plan whose leading digits match, or that has none and finds the
 * number valid; else of the main plan, without its leading digits.
 */
function readAmong(candidates: readonly NumberingPlan[], national: National): FastNumber {
  const { digits, from, to } = national;
  for (const plan of candidates) {
    const isChosen = candidates.length > 1 && plan.leadingDigits.matchStart(digits, from, to) !== undefined;
    if (candidates.length > 1 && plan.hasLeadingDigits && !isChosen) continue;
    if (plan.valid.matches(digits, from, to)) return acceptAs(plan, national);
    if (isChosen) return 'refused';
  }
  const isMainAsked = candidates.length === 1 || candidates[0]?.hasLeadingDigits === false;
  return isMainAsked ? 'refused' : undefined;
}

function acceptAs(
  { callingCode, country = NON_GEOGRAPHIC }: NumberingPlan,
  { digits, from, to }: National,
): FastNumber {
  const count = callingCode.length + to - from;
  if (count < MIN_DIGITS || count > MAX_DIGITS) return 'refused';
  let number = Number(callingCode);
  for (let at = from; at < to; at += 1) number = number * 10 + (digits[at] as number);
  return { digits: number, country };
}
