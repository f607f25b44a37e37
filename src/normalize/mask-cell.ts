import { NUMBER_CODES } from '../domain/row-codes.js';

const MAX_SHOWN = 24;
const SHOWN_AT_START = 2;
const SHOWN_AT_END = 2;
/** Fewer digits would reveal the number. */
const MIN_DIGITS = 7;

/**
 * The cell of a refused row, as an account may show it: its form, not its content. Of a number the first and the last
 * two digits, of an e-mail address its punctuation alone; of anything else nothing: ''.
 */
export function maskCell(code: string, cell: string): string {
  const text = cell.trim().replace(/\s+/g, ' ');
  if (code === 'bad-email') return cut(text.replace(/[\p{L}\p{N}]/gu, 'x'));
  // A word in place of a code may be a name.
  if (code === 'bad-language') return /^[a-z]{2,3}(?:[-_][a-z0-9]{2,8})*$/i.test(text) ? cut(text) : '';
  if (code === 'bad-country' || code === 'bad-filter-value') return /\d{4}|@/.test(text) ? maskDigits(text) : cut(text);
  return Object.hasOwn(NUMBER_CODES, code) ? maskDigits(text) : '';
}

/** What a cell looks like, whatever it holds: `Anna Tan` is `xxxx xxx`, `24.11.2026` is `99.99.9999`. */
export function maskForm(cell: string): string {
  return cut(
    cell
      .trim()
      .replace(/\s+/g, ' ')
      .replace(/\p{L}\p{M}*/gu, 'x')
      .replace(/\p{N}/gu, '9'),
  );
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
  return cut(masked.replace(/\p{L}{4,}/gu, '…'));
}

function cut(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
