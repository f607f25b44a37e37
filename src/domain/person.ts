/**
 * The same for both forms of a line, of its digits in E.164: one person has it. In Argentina and Mexico these are the form for calls and
 * the older one for mobiles, and both reach it.
 */
export function personOf(digits: number): number {
  for (const [country, mobile] of TWO_FORMS)
    if (digits >= country && digits < country + TEN_DIGITS) return mobile + digits - country;
  return digits;
}

const TEN_DIGITS = 1e10;
const TWO_FORMS = [
  [54 * TEN_DIGITS, 549 * TEN_DIGITS],
  [52 * TEN_DIGITS, 521 * TEN_DIGITS],
] as const;
