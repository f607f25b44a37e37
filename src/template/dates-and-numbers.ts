import { remember } from '../domain/is-object.js';
import { MONTHS } from '../domain/stated-time.js';

/**
 * How a file writes its dates and numbers, and how a text shows a date. A date is ISO 8601, or in the format that the job names for
 * the file, such as `dd.MM.yyyy`, and it is shown with the clock time that is written in it. LiquidJS's own `date` reads the clock
 * ("now"), the machine's time zone and locale, takes `1/11/2026` for January, and leaves what it cannot read as it is. Here such a
 * row is refused: a plan must be the same on every machine, on every day.
 */

/** A cell that is no date as it should be written, or an unsupported format. */
export class BadDate extends Error {
  override readonly name = 'BadDate';
}

/** Writes a date in English, in a strftime format; `input` is how it is written if not in ISO 8601. Throws `BadDate` for anything else. */
export function formatDate(value: unknown, format: unknown, input?: unknown): string {
  const date = parseDate(value, input === undefined ? undefined : String(input));
  return String(format).replace(DIRECTIVE, (whole, flag: string, letter: string) => {
    const write = directives[letter];
    if (write === undefined) throw new BadDate(describeUnknown(whole));
    return applyFlag(flag, write(date));
  });
}

/** The fault of a strftime format; undefined if every directive is known. */
export function findBadDirective(format: string): string | undefined {
  for (const [whole, , letter] of format.matchAll(DIRECTIVE)) {
    if (directives[letter ?? ''] === undefined) return describeUnknown(whole);
  }
  return undefined;
}

const DIRECTIVE = /%([-_0^]?)(.?)/gs;

function describeUnknown(directive: string): string {
  const known = Object.keys(directives).map((letter) => `%${letter}`);
  return `the date format contains ${directive}, expected only ${known.join(' ')}`;
}

const EXPECTED_ISO =
  'not an ISO 8601 date, expected one such as 2026-11-01 or 2026-11-01T18:30; for another format name it after the first: date: "%d %b", "dd.MM.yyyy"';

function parseDate(value: unknown, format: string | undefined): WrittenDate {
  const wrong = format === undefined ? undefined : findBadInputFormat(format);
  if (wrong !== undefined) throw new BadDate(wrong);
  const written = typeof value === 'string' ? readDate(value, format) : undefined;
  if (written === undefined)
    throw new BadDate(format === undefined ? EXPECTED_ISO : `not a date in the format ${format}`);
  if (isRealDate(written)) return written;
  throw new BadDate('there is no such day or time, expected an existing date');
}

const WEEKDAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

const directives: Readonly<Record<string, (date: WrittenDate) => string>> = {
  Y: (date) => String(date.year),
  y: (date) => pad(date.year % 100),
  m: (date) => pad(date.month),
  B: (date) => MONTHS[date.month - 1] ?? '',
  b: (date) => (MONTHS[date.month - 1] ?? '').slice(0, 3),
  d: (date) => pad(date.day),
  e: (date) => pad(date.day, ' '),
  A: nameWeekday,
  a: (date) => nameWeekday(date).slice(0, 3),
  H: (date) => pad(date.hour),
  k: (date) => pad(date.hour, ' '),
  I: (date) => pad(date.hour % 12 || 12),
  l: (date) => pad(date.hour % 12 || 12, ' '),
  M: (date) => pad(date.minute),
  S: (date) => pad(date.second),
  p: (date) => (date.hour < 12 ? 'AM' : 'PM'),
  P: (date) => (date.hour < 12 ? 'am' : 'pm'),
  F: (date) => `${date.year}-${pad(date.month)}-${pad(date.day)}`,
  R: (date) => `${pad(date.hour)}:${pad(date.minute)}`,
  T: (date) => `${pad(date.hour)}:${pad(date.minute)}:${pad(date.second)}`,
  '%': () => '%',
};

function nameWeekday({ year, month, day }: WrittenDate): string {
  return WEEKDAYS[new Date(Date.UTC(year, month - 1, day)).getUTCDay()] ?? '';
}

function pad(value: number, fill = '0'): string {
  return String(value).padStart(2, fill);
}

/** `-` takes the padding away, `_` pads with blanks, `0` with zeros, `^` writes capitals. */
function applyFlag(flag: string, written: string): string {
  if (flag === '^') return written.toUpperCase();
  if (!/^[ 0-9]+$/.test(written) || flag === '') return written;
  const bare = written.replace(/^[ 0]+(?=\d)/, '');
  if (flag === '-') return bare;
  return bare.padStart(written.length, flag === '_' ? ' ' : '0');
}

/** A date as it is written, not validated. */
type WrittenDate = Readonly<Record<(typeof PARTS)[number], number>>;
const PARTS = ['year', 'month', 'day', 'hour', 'minute', 'second'] as const;

/** Whether there is such a day and time: Date.UTC rolls 31 November over to 1 December, and hour 25 to the next day. */
export function isRealDate({ year, month, day, hour, minute, second }: WrittenDate): boolean {
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day && minute <= 59 && second <= 59;
}

/** Reads a date in ISO 8601, or by a format in which `findBadInputFormat` finds nothing; undefined where it is not written so. */
export function readDate(text: string, format: string | undefined): WrittenDate | undefined {
  return format === undefined ? readIsoDate(text)?.written : readByFormat(text, format);
}

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s?(Z|[+-]\d\d:?\d\d)?)?$/i;

/** Reads ISO 8601, and its offset where it has one; undefined for anything else. */
export function readIsoDate(text: string): { written: WrittenDate; offset: string | undefined } | undefined {
  const match = ISO.exec(text.trim());
  if (match === null) return undefined;
  return { written: dateOf((part) => match[PARTS.indexOf(part) + 1]), offset: match[7] };
}

function dateOf(textOf: (part: (typeof PARTS)[number]) => string | undefined): WrittenDate {
  return Object.fromEntries(PARTS.map((part) => [part, Number(textOf(part) ?? 0)])) as WrittenDate;
}

type FieldPart = (typeof PARTS)[number] | 'hour12' | 'half';

/**
 * What a date format is made of: `dd.MM.yyyy`, `M/d/yyyy h:mm a`. Two letters of a kind are two digits, one is one or two; anything
 * that is no letter stands for itself. There are no names of months and no years of two digits: language and century would be guesses.
 */
const FIELDS: Readonly<Record<string, readonly [part: FieldPart, pattern: string]>> = {
  yyyy: ['year', '\\d{4}'],
  MM: ['month', '\\d\\d'],
  M: ['month', '\\d\\d?'],
  dd: ['day', '\\d\\d'],
  d: ['day', '\\d\\d?'],
  HH: ['hour', '\\d\\d'],
  H: ['hour', '\\d\\d?'],
  hh: ['hour12', '0[1-9]|1[0-2]'],
  h: ['hour12', '0?[1-9]|1[0-2]'],
  mm: ['minute', '\\d\\d'],
  ss: ['second', '\\d\\d'],
  a: ['half', '[AaPp]\\.?[Mm]\\.?'],
};
const PIECE = /([A-Za-z])\1*|[^A-Za-z]/gs;
const LONGEST_FORMAT = 50;

/** The fault of a date format; undefined if it is valid. */
export function findBadInputFormat(format: string): string | undefined {
  const pieces = splitFormat(format);
  const unknown = pieces.find((piece) => /[A-Za-z]/.test(piece) && FIELDS[piece] === undefined);
  if (unknown !== undefined)
    return `the input format contains ${unknown}, expected only ${Object.keys(FIELDS).join(' ')}`;
  const parts = pieces.flatMap((piece) => FIELDS[piece]?.[0].replace('12', '') ?? []);
  const isOnce = new Set(parts).size === parts.length && format.length <= LONGEST_FORMAT;
  const isDay = ['year', 'month', 'day'].every((part) => parts.includes(part));
  const isHalf = pieces.includes('a') === pieces.some((piece) => /^hh?$/.test(piece));
  if (isOnce && isDay && isHalf) return undefined;
  return `the input format is "${format.slice(0, LONGEST_FORMAT)}", expected day, month and year once each, such as dd.MM.yyyy, and h only with a`;
}

function readByFormat(value: string, format: string): WrittenDate | undefined {
  const { pattern, parts } = compileFormat(format);
  const match = pattern.exec(value.trim());
  if (match === null) return undefined;
  const textOf = (part: FieldPart) => (parts.includes(part) ? match[parts.indexOf(part) + 1] : undefined);
  const written = dateOf(textOf);
  const half = textOf('half');
  return half === undefined
    ? written
    : { ...written, hour: (Number(textOf('hour12')) % 12) + (/^p/i.test(half) ? 12 : 0) };
}

/** A template has a few formats, the same for every row. */
const MOST_COMPILED = 100;
const compiled = new Map<string, { readonly pattern: RegExp; readonly parts: readonly FieldPart[] }>();

function compileFormat(format: string) {
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  return remember(compiled, format, () => {
    const pieces = splitFormat(format);
    const source = pieces.map((piece) => {
      const pattern = FIELDS[piece]?.[1];
      return pattern === undefined ? piece.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&') : `(${pattern})`;
    });
    const parts = pieces.flatMap((piece) => FIELDS[piece]?.[0] ?? []);
    return { pattern: new RegExp(`^${source.join('')}$`), parts };
  });
}

function splitFormat(format: string): string[] {
  return format.slice(0, LONGEST_FORMAT + 1).match(PIECE) ?? [];
}

/** How a file writes 1234.56, such as `1.234,56`. The separator of thousands may be absent, in the format and in each number. */
const NUMBER_FORMAT = /^1([.,'’ ]?)234([.,])56$/;
/** What separates thousands or decimals, as a pattern: for a blank and an apostrophe also the typographic ones. */
const SEPARATORS: Readonly<Record<string, string>> = {
  '.': '\\.',
  ',': ',',
  "'": "['’]",
  '’': "['’]",
  ' ': '[ \\u00a0\\u2009\\u202f]',
};

export function findBadNumberFormat(format: string): string | undefined {
  const [match, thousands, decimal] = NUMBER_FORMAT.exec(format) ?? [];
  if (match !== undefined && thousands !== decimal) return undefined;
  return 'expected how the file writes 1234.56, such as "1.234,56", "1,234.56" or "1 234,56"';
}

/** Writes a number with a point and no separators of thousands; undefined for what is not written by a valid `format`. */
export function rewriteNumber(text: string, format: string): string | undefined {
  const [match, sign, whole = '', fraction] = compileNumber(format).exec(text.trim()) ?? [];
  if (match === undefined) return undefined;
  return `${sign}${whole.replace(/\D/g, '')}${fraction === undefined ? '' : `.${fraction}`}`;
}

const compiledNumbers = new Map<string, RegExp>();

/** Compiles a format once: there are a dozen. */
function compileNumber(format: string): RegExp {
  return remember(compiledNumbers, format, () => {
    const [, thousands = '', decimal = '.'] = NUMBER_FORMAT.exec(format) ?? [];
    const separator = SEPARATORS[thousands];
    const grouped = separator === undefined ? '' : String.raw`\d{1,3}(?:${separator}\d{3})+|`;
    return new RegExp(String.raw`^([+-]?)(${grouped}\d+)(?:${SEPARATORS[decimal]}(\d+))?$`);
  });
}
