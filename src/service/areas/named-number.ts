/**
 * The digits of a number as an answer repeats it: as text or as a number, with or without plus or zeros in front, with
 * what people put between digits. Exact: there are 15 at most. Undefined for an incomplete number, such as a masked
 * one.
 */
export function readNamedNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value > 0 ? value : undefined;
  if (typeof value !== 'string' || !WHOLE.test(value.trim())) return undefined;
  const digits = Number(PLAIN.test(value) ? value : value.replace(/\D/g, ''));
  return Number.isSafeInteger(digits) && digits > 0 ? digits : undefined;
}

/** As nearly every service writes it. */
const PLAIN = /^\+?\d+$/;
const WHOLE = /^\+?[\d\s().-]+$/;

/** Whether an answer names a number other than the one that was sent. An omitted or masked number is not another one. */
export function isAnotherNumber(named: unknown, sent: unknown): boolean {
  const number = readNamedNumber(named);
  return number !== undefined && number !== readNamedNumber(sent);
}
