/** Why a number is refused: every code, with one line for the reference. */
export const numberCodes = {
  empty: 'The cell is empty.',
  placeholder: 'The cell contains a word or sign for "no number", such as n/a, null, - or 0000000.',
  'spreadsheet-number': 'A spreadsheet changed the number: 6.59123E+09, 6591234567.0, 6,591,234,567 or ####.',
  'stray-apostrophe': "There is an apostrophe or quote around or after the number: '6591234567'.",
  'two-numbers': 'The cell contains more than one number.',
  extension: 'The number has an extension, which no message can reach.',
  letters: 'There are letters in place of digits: O for 0, l or I for 1.',
  'stray-character': 'There are characters that do not belong in a number.',
  'not-a-number': 'The cell contains something other than a phone number.',
  'no-country': 'The number has no +, and no country is set for it.',
  'bad-country': 'The country is neither a code (ISO 3166-1), such as SG, nor a name, or a name shared by several.',
  'unknown-calling-code': 'The number begins with +, and the digits after it are not a calling code.',
  'lost-plus': 'The number is valid only with a + in front of it.',
  'double-zero':
    'The number begins with 00, and could be two numbers: one if 00 means +, another as dialled in its country.',
  'lost-zero': 'The number is valid only with a leading 0 in front of it.',
  'too-short': 'The number has too few digits for its country.',
  'too-long': 'The number has too many digits for its country, or more than the 15 of E.164.',
  'bad-number': 'The number has a possible length, but its country has no such number.',
} as const;

export type NumberCode = keyof typeof numberCodes;

/** E.164 with its +, and the country of the number itself: ISO alpha-2, or `NON_GEOGRAPHIC`. */
export interface AcceptedNumber {
  readonly ok: true;
  readonly e164: string;
  readonly country: string;
}

export interface RefusedNumber {
  readonly ok: false;
  readonly code: NumberCode;
  /** A sentence for the owner of the file; may suggest a value. */
  readonly reason: string;
}

export type NumberResult = AcceptedNumber | RefusedNumber;

/** Stands for the country of numbers that belong to none (+800, +883 …): ISO 3166 keeps ZZ free for such use. */
export const NON_GEOGRAPHIC = 'ZZ';
