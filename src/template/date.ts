import { findBadInputFormat, isRealDate, readIsoDate, readWrittenDate, type WrittenDate } from './written-values.js';

/**
 * The `date` filter, in place of LiquidJS's own: that one reads the clock ("now"), the machine's time zone and locale, takes
 * `1/11/2026` for January, and leaves what it cannot read as it is. Here a date is ISO 8601, or as a second argument says that the
 * file writes it (`dd.MM.yyyy`); it is shown with the clock time that
 * is written in it, in English, and anything else refuses the row: a plan must be the same on every machine, on every day.
 */

/** A cell that is not an ISO 8601 date, or an unsupported format. */
export class BadDate extends Error {
  override readonly name = 'BadDate';
}

const DIRECTIVE = /%([-_0^]?)(.?)/gs;

/** Writes a date in a strftime format; `input` is how it is written if not in ISO 8601. Throws `BadDate` for anything else. */
export function formatDate(value: unknown, format: unknown, input?: unknown): string {
  const date = parseDate(value, input);
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

function describeUnknown(directive: string): string {
  const known = Object.keys(directives).map((letter) => `%${letter}`);
  return `the date format contains ${directive}, expected only ${known.join(' ')}`;
}

function parseDate(value: unknown, input: unknown): WrittenDate {
  const written = input === undefined ? readIso(value) : readAs(value, String(input));
  if (isRealDate(written)) return written;
  throw new BadDate('there is no such day or time, expected an existing date');
}

function readIso(value: unknown): WrittenDate {
  const read = typeof value === 'string' ? readIsoDate(value) : undefined;
  if (read === undefined) {
    throw new BadDate(
      'not an ISO 8601 date, expected one such as 2026-11-01 or 2026-11-01T18:30; for another format name it after the first: date: "%d %b", "dd.MM.yyyy"',
    );
  }
  return read.written;
}

function readAs(value: unknown, format: string): WrittenDate {
  const wrong = findBadInputFormat(format);
  if (wrong !== undefined) throw new BadDate(wrong);
  const read = typeof value === 'string' ? readWrittenDate(value, format) : undefined;
  if (read === undefined) throw new BadDate(`not a date in the format ${format}`);
  return read;
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
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
