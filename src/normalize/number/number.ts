import type { ByteCells } from '../../domain/bytes/row-block.js';
import { explainRefusal } from './explain-number.js';
import { type NumberDigits, readFast } from './number-fast.js';
import { type AcceptedNumber, acceptByLibrary, type RefusedNumber, trimNumber } from './number-library.js';

type NumberResult = AcceptedNumber | RefusedNumber;

/**
 * E.164 of a number as people write it, by libphonenumber-js (max metadata, the whole text or nothing). With a + the
 * number's own country counts; without, `country` (ISO alpha-2, any case), with its trunk and international prefixes.
 * `00` counts as a + even in countries that dial something else, if no other reading is a number. Refuses what the
 * library does not find valid, extensions, and what a spreadsheet changed; the reason suggests the likely value, which
 * is never assumed.
 */
export function normalizeNumber(text: string, country: string | undefined): NumberResult {
  const read = readFast(text, country);
  if (read === 'refused') return explainRefusal(trimNumber(text), country);
  if (read === undefined) return normalizeByLibrary(text, country);
  return { ok: true, e164: `+${read.digits}`, country: read.country };
}

/** Does what `normalizeNumber` does, without the cost of a reason: undefined where the number is refused. */
export function acceptNumber(text: string, country: string | undefined): AcceptedNumber | undefined {
  const read = readFast(text, country);
  if (read === 'refused') return undefined;
  if (read === undefined) return acceptByLibrary(trimNumber(text), country);
  return { ok: true, e164: `+${read.digits}`, country: read.country };
}

/** Does what `normalizeNumber` does without its fast path, at about a tenth of the speed: the reference for its tests. */
export function normalizeByLibrary(text: string, country: string | undefined): NumberResult {
  const value = trimNumber(text);
  return acceptByLibrary(value, country) ?? explainRefusal(value, country);
}

/** Numbers as a person types them, or pastes a list: a blank parts two where the next begins with +, for it stands within them too. */
export function splitNumbers(text: string): string[] {
  const parts = text.split(/[,;\t\r\n]|(?=\+)/).map((each) => each.trim());
  return parts.filter((each) => each !== '');
}

/** Columns of a file's numbers, and the country of numbers without `+`: the row's own, else this one. */
export interface NumberColumn {
  readonly index: number;
  readonly countryIndex: number | undefined;
  readonly country: string | undefined;
}

/** The number of a row. */
export function normalizeCell(
  cells: ByteCells,
  { index, countryIndex, country }: NumberColumn,
): NumberDigits | RefusedNumber {
  const ofRow = countryIndex === undefined ? '' : cells.cell(countryIndex).trim();
  const own = ofRow === '' ? country : ofRow;
  const text = cells.cell(index);
  const read = readFast(text, own);
  if (typeof read === 'object') return read;
  const number = normalizeNumber(text, own);
  return number.ok ? { digits: Number(number.e164), country: number.country } : number;
}
