const SHOWN_AT_START = 2;
const SHOWN_AT_END = 2;
/** Shorter than this, what is shown would give the number away. */
const MIN_DIGITS = 7;

/** For logs and errors: `+6591234521` → `+65******21`. What is not an E.164 number is hidden whole: `***`. */
export function maskNumber(e164: string): string {
  if (!/^\+?\d{1,15}$/.test(e164)) return '***';
  const plus = e164.startsWith('+') ? '+' : '';
  const digits = e164.slice(plus.length);
  if (digits.length < MIN_DIGITS) return '***';
  const hidden = digits.length - SHOWN_AT_START - SHOWN_AT_END;
  return `${plus}${digits.slice(0, SHOWN_AT_START)}${'*'.repeat(hidden)}${digits.slice(-SHOWN_AT_END)}`;
}
