/**
 * Takes the E.164 digits of a line and returns digits that are the same for both of its forms, since one person has it. In Argentina and
 * Mexico a line has a form for calls and an older one for mobiles, and both reach it.
 */
export function personOf(digits: number): number {
  if (digits >= ARGENTINA && digits < ARGENTINA + TEN_DIGITS) return digits + ARGENTINE_MOBILE - ARGENTINA;
  if (digits >= MEXICO && digits < MEXICO + TEN_DIGITS) return digits + MEXICAN_MOBILE - MEXICO;
  return digits;
}

const TEN_DIGITS = 1e10;
const ARGENTINA = 54 * TEN_DIGITS;
const ARGENTINE_MOBILE = 549 * TEN_DIGITS;
const MEXICO = 52 * TEN_DIGITS;
const MEXICAN_MOBILE = 521 * TEN_DIGITS;
