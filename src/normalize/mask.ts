import type { Verdict } from '../domain/row.js';

const SHOWN_AT_START = 2;
const SHOWN_AT_END = 2;
/** Shorter numbers would be revealed by the shown digits. */
const MIN_DIGITS = 7;

/** For logs and errors: `+6591234521` → `+65******21`. Any other text becomes `***`. */
export function maskNumber(e164: string): string {
  if (!/^\+?\d{1,15}$/.test(e164)) return '***';
  const plus = e164.startsWith('+') ? '+' : '';
  const digits = e164.slice(plus.length);
  if (digits.length < MIN_DIGITS) return '***';
  const hidden = digits.length - SHOWN_AT_START - SHOWN_AT_END;
  return `${plus}${digits.slice(0, SHOWN_AT_START)}${'*'.repeat(hidden)}${digits.slice(-SHOWN_AT_END)}`;
}

/** With + and seven digits or more, with or without separators. */
const NUMBER = /\+[1-9](?:[ ().-]{0,2}\d){6,}/g;

/** Masks every international number within a text: for logs and errors that may quote a file or the service. */
export function maskNumbers(text: string): string {
  return text.replace(NUMBER, (number) => maskNumber(`+${number.replace(/\D/g, '')}`));
}

/** A number, an e-mail address or a messenger id: enough of it to recognize its kind. */
export function maskAddress(address: string): string {
  if (/^\+?\d+$/.test(address)) return maskNumber(address);
  const at = address.lastIndexOf('@');
  return at > 0 ? `${address.slice(0, 1)}***${address.slice(at)}` : `${address.slice(0, 2)}***`;
}

/** The outcome of a step without rows, for summaries, which are logged: the service's message may contain a number. */
export function maskVerdict(verdict: Verdict): Verdict {
  const reason = maskNumbers(verdict.reason);
  return verdict.status === 'in-doubt'
    ? { ...verdict, reason }
    : { ...verdict, code: maskNumbers(verdict.code), reason };
}

const MAX_LISTED_COLUMNS = 30;

/** The names of a file's columns for an error, numbers masked: the first row of a file without a header holds personal data. */
export function listColumns(columns: readonly string[]): string {
  const listed = columns.slice(0, MAX_LISTED_COLUMNS).map(maskColumn).join(', ');
  return columns.length > MAX_LISTED_COLUMNS ? `${listed}, and ${columns.length - MAX_LISTED_COLUMNS} more` : listed;
}

function maskColumn(name: string): string {
  const digits = name.replace(/\D/g, '');
  return digits.length >= MIN_DIGITS && !/\p{L}/u.test(name) ? maskNumber(digits) : name;
}
