import type { NumberCode } from '../../domain/row-codes.js';
import {
  acceptByLibrary,
  endsLikeDecimal,
  isNumberLike,
  type RefusedNumber,
  readDigits,
  trimNumber,
} from './number-library.js';

type Rule = (value: string, country: string | undefined) => RefusedNumber | undefined;

/** In this order: an earlier one explains more. Each gets a refused cell. */
const RULES: readonly Rule[] = [
  explainEmpty,
  explainOverlong,
  (value) => explainPlaceholder(value, readDigits(value)),
  explainSpreadsheet,
  explainApostrophe,
  explainSeveral,
  explainExtension,
  explainLetters,
  explainStrays,
];

const MAX_TEXT = 250;
const PLACEHOLDERS = new Set(
  'n/a n.a. na n.a #n/a #n/a! #na null nil none no unknown undefined nan tbd tba tbc - -- --- — – . ? ?? ??? x xx xxx #ref! #value! #name? #null! #num! #div/0! missing blank empty test'.split(
    ' ',
  ),
);
const LETTERS_LIKE_DIGITS = /[oOlI\u041E\u043E]/;
const SEPARATORS = /[/\uFF0F,;|&\n\r]|\b(?:or|and|und|oder|et|ou)\b/i;
const EXTENSION = /^(.*\d[^\da-z]*?)(?:;\s*ext=|\be?xt(?:ension|n)?\b\.?:?|\bint\.?|x|#|~|,)\s*(\d{1,9})#?$/i;

/** Explains a fault in how a number is written; undefined when only its digits or its country can be at fault. */
export function explainNumberFormat(value: string, country: string | undefined): RefusedNumber | undefined {
  for (const rule of RULES) {
    const refused = rule(value, country);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

function explainEmpty(value: string): RefusedNumber | undefined {
  return value === '' ? refuse('empty', 'The cell is empty.') : undefined;
}

function explainOverlong(value: string): RefusedNumber | undefined {
  if (value.length <= MAX_TEXT) return undefined;
  return refuse('not-a-number', `The cell has ${value.length} characters, far more than a phone number.`);
}

export function explainPlaceholder(value: string, digits: string): RefusedNumber | undefined {
  const isWord = PLACEHOLDERS.has(value.toLowerCase());
  const isFiller =
    /^[+\d\s().-]+$/.test(value) && (/^0+$/.test(digits) || /^(\d)\1{6,}$/.test(digits) || digits === '123456789');
  if (!isWord && !isFiller) return undefined;
  return refuse('placeholder', 'The cell contains a placeholder, not a number; write the number or remove the row.');
}

function explainSpreadsheet(value: string, country: string | undefined): RefusedNumber | undefined {
  const scientific = /^\+?(\d)(?:[.,](\d+))?E\+?(\d{1,3})$/i.exec(value);
  if (scientific) return explainScientific(scientific, country);
  if (/^#+$/.test(value)) {
    return refuse(
      'spreadsheet-number',
      'A spreadsheet wrote #### because the column was too narrow; widen it and export again.',
    );
  }
  const withDecimal = endsLikeDecimal(value.replace(',', '.'));
  const withThousands = /^\+?\d{1,3}(?:,\d{3}){2,}$/.test(value);
  if (!withDecimal && !withThousands) return undefined;
  const digits = withDecimal ? value.replace(/[.,]0+$/, '') : value.replaceAll(',', '');
  const what = withDecimal ? 'added a decimal to' : 'put commas into';
  return refuse('spreadsheet-number', `A spreadsheet ${what} this number${probably(guess(digits, country))}`);
}

function explainScientific(match: RegExpExecArray, country: string | undefined): RefusedNumber {
  const [, first = '', fraction = '', exponent = ''] = match;
  const what = `A spreadsheet shortened this number to ${match[0]}`;
  if (fraction.length < Number(exponent)) {
    return refuse(
      'spreadsheet-number',
      `${what}, and its last digits are lost; format the column as text in the original file and export it again.`,
    );
  }
  const digits = first + fraction;
  const likely = fraction.length === Number(exponent) ? guess(digits, country) : undefined;
  return refuse('spreadsheet-number', `${what}${probably(likely)} Format the column as text before you export it.`);
}

function explainApostrophe(value: string, country: string | undefined): RefusedNumber | undefined {
  const bare = value
    .replace(/^[='"\u2018\u2019\u201C\u201D`\u00B4]+/, '')
    .replace(/['"\u2018\u2019\u201C\u201D`\u00B4]+$/, '');
  if (bare === value || !isNumberLike(bare) || readDigits(bare).length < 3) return undefined;
  return refuse(
    'stray-apostrophe',
    `There is an apostrophe or quote around the number${probably(guess(trimNumber(bare), country))}`,
  );
}

function explainSeveral(value: string, country: string | undefined): RefusedNumber | undefined {
  const parts = value.split(SEPARATORS).map(trimNumber);
  const numbers = parts.filter((part) => readDigits(part).length >= 6);
  const isAbbreviated = numbers.length === 1 && parts.length > 1 && /^[^,;]*[/\uFF0F]\s*\d{1,2}$/.test(value);
  if (numbers.length < 2 && !isAbbreviated) return undefined;
  const valid = numbers.flatMap((part) => acceptByLibrary(part, country)?.e164 ?? []);
  const which = valid.length === 0 ? '' : ` (${valid.slice(0, 3).join(', ')})`;
  return refuse('two-numbers', `The cell contains more than one number${which}; keep one, or make a row for each.`);
}

function explainExtension(value: string, country: string | undefined): RefusedNumber | undefined {
  const match = EXTENSION.exec(value);
  const likely = match?.[1] === undefined ? undefined : acceptByLibrary(trimNumber(match[1]), country)?.e164;
  if (likely === undefined) return undefined;
  return refuse('extension', `The number has an extension, which no message can reach; without it, it is ${likely}.`);
}

function explainLetters(value: string, country: string | undefined): RefusedNumber | undefined {
  if (!LETTERS_LIKE_DIGITS.test(value) || readDigits(value).length < 3) return undefined;
  const mended = value.replace(/[oO\u041E\u043E]/g, '0').replace(/[lI]/g, '1');
  if (!isNumberLike(mended)) return undefined;
  return refuse(
    'letters',
    `There are letters in place of digits (O for 0, l or I for 1)${probably(guess(mended, country))}`,
  );
}

function explainStrays(value: string, country: string | undefined): RefusedNumber | undefined {
  if (isNumberLike(value) && readDigits(value).length >= 3) return undefined;
  const runs = value.replaceAll('\uFF0B', '+').match(/\+?[\p{Nd}\s()[\].\-\u2010-\u2015]+/gu) ?? [];
  const [only, ...others] = runs.filter((run) => readDigits(run) !== '');
  const plus = only?.startsWith('+') ? '+' : '';
  const likely = only === undefined || others.length > 0 ? undefined : guess(plus + readDigits(only), country);
  if (likely !== undefined) {
    return refuse('stray-character', `There are characters that do not belong in a number${probably(likely)}`);
  }
  return refuse('not-a-number', 'The cell does not contain a phone number.');
}

/** Read unchanged, else with the + or the 0 that it may have lost. */
function guess(digits: string, country: string | undefined): string | undefined {
  const read = (text: string) => acceptByLibrary(text, country)?.e164;
  if (digits.startsWith('+')) return read(digits);
  return read(digits) ?? read(`+${digits}`) ?? read(`0${digits}`);
}

function probably(e164: string | undefined): string {
  return e164 === undefined ? '; check it against the source.' : `; it is probably ${e164}.`;
}

function refuse(code: NumberCode, reason: string): RefusedNumber {
  return { ok: false, code, reason };
}
