import { listMost } from '../domain/count-of.js';
import type { Verdict } from '../domain/row.js';
import { NUMBER_CODES } from '../domain/row-codes.js';
import { clip } from '../domain/text.js';

const SHOWN_AT_START = 2;
const SHOWN_AT_END = 2;
/** Shorter numbers would be revealed by the shown digits. */
const MIN_DIGITS = 7;

/** Masks a number for logs and errors: `+6591234521` → `+65******21`. Any other text becomes `***`. */
export function maskNumber(e164: string): string {
  if (!/^\+?\d{1,15}$/.test(e164)) return '***';
  const plus = e164.startsWith('+') ? '+' : '';
  const digits = e164.slice(plus.length);
  if (digits.length < MIN_DIGITS) return '***';
  const hidden = digits.length - SHOWN_AT_START - SHOWN_AT_END;
  return `${plus}${digits.slice(0, SHOWN_AT_START)}${'*'.repeat(hidden)}${digits.slice(-SHOWN_AT_END)}`;
}

/** A number with + and seven digits or more, with or without separators. */
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
  return listMost(columns.map(maskColumn), MAX_LISTED_COLUMNS);
}

function maskColumn(name: string): string {
  const digits = name.replace(/\D/g, '');
  return digits.length >= MIN_DIGITS && !/\p{L}/u.test(name) ? maskNumber(digits) : name;
}

const MAX_SHOWN = 24;
/**
 * The cell of a refused row, as an account may show it: its form, not its content. Of a number the first and the last
 * two digits, of an e-mail address its punctuation alone; of anything else nothing: ''.
 */
export function maskCell(code: string, cell: string): string {
  const text = cell.trim().replace(/\s+/g, ' ');
  if (code === 'bad-email') return clip(text.replace(/[\p{L}\p{N}]/gu, 'x'), MAX_SHOWN);
  // A word in place of a code may be a name.
  if (code === 'bad-language') return /^[a-z]{2,3}(?:[-_][a-z0-9]{2,8})*$/i.test(text) ? clip(text, MAX_SHOWN) : '';
  if (code === 'bad-country' || code === 'bad-filter-value')
    return /\d{4}|@/.test(text) ? maskDigits(text) : clip(text, MAX_SHOWN);
  return Object.hasOwn(NUMBER_CODES, code) ? maskDigits(text) : '';
}

/** What a cell looks like, whatever it holds: `Anna Tan` is `xxxx xxx`, `24.11.2026` is `99.99.9999`. */
export function maskForm(cell: string): string {
  const text = cell.trim().replace(/\s+/g, ' ');
  return clip(text.replace(/\p{L}\p{M}*/gu, 'x').replace(/\p{N}/gu, '9'), MAX_SHOWN);
}

function maskDigits(text: string): string {
  const digits = text.replace(/\D/g, '').length;
  if (digits === 0 || text.replace(/\P{L}/gu, '').length > digits) return '';
  let seen = 0;
  const masked = text.replace(/\d/g, (digit) => {
    seen += 1;
    const isShown = digits >= MIN_DIGITS && (seen <= SHOWN_AT_START || seen > digits - SHOWN_AT_END);
    return isShown ? digit : '*';
  });
  // A word beside a number may be a name; E, O, l and ext are what is at fault.
  return clip(masked.replace(/\p{L}{4,}/gu, '…'), MAX_SHOWN);
}
