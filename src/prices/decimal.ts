import { trimEndOf } from '../domain/text.js';

/**
 * Amounts of money are exact: a decimal number with at most 9 decimals is a BigInt of billionths ("nanos"), never a
 * floating-point number. The service's own prices have 7 decimals.
 */
const DECIMALS = 9;
/** Digits before the point; no price of a message has more. */
const MOST_DIGITS = 12;
/** An amount is shown with as many decimals at least. */
const SHOWN_DECIMALS = 2;

type ReadDecimal =
  | { readonly ok: true; readonly nanos: bigint }
  /** Completes "<what was read> …, expected …"; of the text only a number with a comma is quoted. */
  | { readonly ok: false; readonly fault: string; readonly expected: string };

/** Reads `120`, `0.05` or, with `isCommaDecimal`, `0,05`. Blanks around it are allowed, thousands separators are not. */
export function parseDecimal(text: string, { isCommaDecimal = false } = {}): ReadDecimal {
  const trimmed = text.trim();
  const written = isCommaDecimal ? trimmed.replace(',', '.') : trimmed;
  const [whole, integer, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(written) ?? [];
  if (whole === undefined || integer === undefined) return explain(trimmed, isCommaDecimal);
  const decimals = trimEndOf(fraction, '0');
  if (decimals.length > DECIMALS) return refuse(`has ${decimals.length} decimals`, `at most ${DECIMALS}`);
  const digits = integer.replace(/^0+/, '');
  if (digits.length > MOST_DIGITS)
    return refuse(`has ${digits.length} digits before the point`, `at most ${MOST_DIGITS}`);
  return { ok: true, nanos: BigInt(`${digits}${decimals.padEnd(DECIMALS, '0')}`) };
}

function explain(text: string, isCommaDecimal: boolean): ReadDecimal {
  if (/^[-−]/.test(text)) return refuse('is negative', 'zero or more');
  if (!isCommaDecimal && /^\d+,\d+$/.test(text)) {
    return refuse('has a comma, which may separate decimals or thousands', `a point: ${text.replace(',', '.')}`);
  }
  return refuse('is no decimal number', 'digits and a point, such as 0.05');
}

function refuse(fault: string, expected: string): ReadDecimal {
  return { ok: false, fault, expected };
}

/** `0.05`, `12.50`, `-3.00`: at least two decimals, and as many more as there are. */
export function formatDecimal(nanos: bigint): string {
  const digits = (nanos < 0n ? -nanos : nanos).toString().padStart(DECIMALS + 1, '0');
  const fraction = trimEndOf(digits.slice(-DECIMALS), '0').padEnd(SHOWN_DECIMALS, '0');
  return `${nanos < 0n ? '-' : ''}${digits.slice(0, -DECIMALS)}.${fraction}`;
}

/** Reads an amount that `formatDecimal` wrote, in its nanos. */
export function readNanos(decimal: string): bigint {
  const isNegative = decimal.startsWith('-');
  const [integer = '', fraction = ''] = decimal.replace('-', '').split('.');
  const nanos = BigInt(`${integer}${fraction.padEnd(DECIMALS, '0')}`);
  return isNegative ? -nanos : nanos;
}

/** For people, with thousands separated: `1,234.50`. */
export function formatAmount(decimal: string): string {
  const [integer = '', fraction = ''] = decimal.replace('-', '').split('.');
  return `${decimal.startsWith('-') ? '-' : ''}${BigInt(integer).toLocaleString('en-US')}.${fraction}`;
}

/** `1,234.50 EUR`. */
export function formatMoney(decimal: string, currency: string): string {
  return `${formatAmount(decimal)} ${currency}`;
}
