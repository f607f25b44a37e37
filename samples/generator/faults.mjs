import { readNumber, writeNumber } from './numbers.mjs';

/**
 * What is wrong with a bad row. A fault of a value changes the row before it is written; a fault of the line changes the
 * text of the row. Every bad row has one fault only, so the reason why it must be refused is known.
 *
 * @typedef {{ values: Record<string, string>, e164: string }} Row
 */

/**
 * Faults of a value: (row, random) changes row.values. `spare` is a number that belongs to no other row.
 *
 * @type {Record<string, (row: Row, random: import('./random.mjs').Random, spare: string) => void>}
 */
export const VALUE_FAULTS = {
  'scientific-number': (row) => {
    const digits = row.e164.slice(1);
    row.values.mobile = `${digits[0]}.${digits.slice(1, 6)}E+${String(digits.length - 1).padStart(2, '0')}`;
  },
  'lost-plus': (row, random) => {
    row.values.mobile = row.e164.slice(1);
    row.values.country = random.pick(COUNTRIES.filter((country) => !readNumber(row.values.mobile, country)));
  },
  // In Côte d'Ivoire the zero belongs to the number: without it there is no such number.
  'lost-zero': (row) => {
    row.values.mobile = row.e164.slice('+2250'.length);
  },
  apostrophe: (row) => {
    row.values.mobile = `'${row.e164}'`;
  },
  'letter-for-zero': (row) => {
    row.values.mobile = row.e164.replaceAll('0', 'O');
  },
  'two-numbers': (row, random, spare) => {
    row.values.mobile = [row.e164, spare].join(random.pick([' / ', ', ', ' or ']));
  },
  extension: (row) => {
    row.values.mobile = `${row.e164} ext. 12`;
  },
  'empty-number': (row) => {
    row.values.mobile = '';
  },
  'no-number': (row, random) => {
    row.values.mobile = random.pick(['n/a', 'call the office', '-', 'TBC', '#N/A', '12345', '000000000']);
  },
  'unused-range': (row, random) => {
    do row.values.mobile = `${row.e164.slice(0, 3)}0${random.digits(row.e164.length - 4)}`;
    while (readNumber(row.values.mobile, row.values.country));
  },
  'too-short-number': (row) => {
    do row.values.mobile = (row.values.mobile.startsWith('+') ? row.values.mobile : row.e164).slice(0, -2);
    while (readNumber(row.values.mobile, row.values.country));
  },
  'unknown-country': (row, random) => {
    row.values.mobile = writeNumber(row.e164, 'national');
    row.values.country = random.pick(['XX', 'ZZ', 'QQ']);
  },
  'no-country': (row) => {
    row.values.mobile = writeNumber(row.e164, 'national');
    row.values.country = '';
  },
  'wrong-country': (row, random) => {
    row.values.mobile = writeNumber(row.e164, 'national');
    row.values.country = random.pick(COUNTRIES.filter((country) => !readNumber(row.values.mobile, country)));
  },
  'missing-voucher': (row) => {
    row.values.voucher = '';
  },
  'too-long-text': (row, random) => {
    // 10 parts carry 1,530 characters of GSM-7 or 670 of UCS-2.
    row.values.offer = random.pick([
      '20% off everything in the shop, '.repeat(60),
      '20 % auf alles – für dich. '.repeat(60),
    ]);
  },
  'no-address': (row) => {
    row.values.mobile = '';
    row.values.email = '';
  },
  'bad-email': (row, random) => {
    row.values.mobile = '';
    row.values.email = random.pick([
      'hello.mail.example',
      'hello@',
      '@mail.example',
      'two words@mail.example',
      'a@b@mail.example',
    ]);
  },
  'too-long-name': (row) => {
    row.values.first_name = 'Annabella-'.repeat(25);
  },
  'too-long-id': (row) => {
    row.values.customer_id = `C-${'0123456789'.repeat(6)}`;
  },
};

/** Faults of a line of CSV, as a change of its cells before they are joined. */
export const CSV_FAULTS = {
  'too-few-fields': (cells, random) => cells.slice(0, 1 + random.int(cells.length - 2)),
  'too-many-fields': (cells, random) => {
    const at = 1 + random.int(cells.length - 1);
    return [...cells.slice(0, at), 'WP', ...cells.slice(at)];
  },
};

/** Faults of a line of NDJSON, as a change of its text. */
export const NDJSON_FAULTS = {
  'bad-json': (line, random) =>
    random.pick([line.slice(0, Math.floor(line.length * 0.6)), line.replace('}', ',}'), line.replaceAll('"', "'")]),
  'not-an-object': (_line, random) => random.pick(['["+6581234567","SG"]', '"+6581234567"', '42', 'null']),
  'lossy-number': (line) => line.replace('{', '{"card":12345678901234567890,'),
  'half-character': (line) => line.replace('{', '{"nick":"\\ud83d",'),
  'duplicate-keys': (line) => line.replace('{', '{"mobile":"+6581234567",'),
};

const COUNTRIES = ['AU', 'DE', 'FR', 'GB', 'SG', 'US', 'VN'];
