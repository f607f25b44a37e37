import { remember } from '../domain/is-object.js';

/**
 * The format of a file's dates, the second argument of `date`: `dd.MM.yyyy`, `M/d/yyyy h:mm a`. Two letters of a kind
 * are two digits, one is one or two; anything that is no letter stands for itself. There are no names of months and no
 * years of two digits: language and century would be guesses.
 */
interface Field {
  readonly part: Part;
  readonly pattern: string;
}
type Part = 'year' | 'month' | 'day' | 'hour' | 'hour12' | 'minute' | 'second' | 'half';

const FIELDS: Readonly<Record<string, Field>> = {
  yyyy: { part: 'year', pattern: '\\d{4}' },
  MM: { part: 'month', pattern: '\\d\\d' },
  M: { part: 'month', pattern: '\\d\\d?' },
  dd: { part: 'day', pattern: '\\d\\d' },
  d: { part: 'day', pattern: '\\d\\d?' },
  HH: { part: 'hour', pattern: '\\d\\d' },
  H: { part: 'hour', pattern: '\\d\\d?' },
  hh: { part: 'hour12', pattern: '0[1-9]|1[0-2]' },
  h: { part: 'hour12', pattern: '0?[1-9]|1[0-2]' },
  mm: { part: 'minute', pattern: '\\d\\d' },
  ss: { part: 'second', pattern: '\\d\\d' },
  a: { part: 'half', pattern: '[AaPp]\\.?[Mm]\\.?' },
};
const PIECE = /([A-Za-z])\1*|[^A-Za-z]/gs;
const LONGEST_FORMAT = 50;

/** A date as it is written, not validated. */
export type WrittenDate = Readonly<Record<(typeof PARTS)[number], number>>;
const PARTS = ['year', 'month', 'day', 'hour', 'minute', 'second'] as const;

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s?(Z|[+-]\d\d:?\d\d)?)?$/i;

/** Reads ISO 8601, and its offset where it has one; undefined for anything else. Not validated. */
export function readIsoDate(text: string): { written: WrittenDate; offset: string | undefined } | undefined {
  const match = ISO.exec(text.trim());
  if (match === null) return undefined;
  return { written: dateOf((part) => match[PARTS.indexOf(part) + 1]), offset: match[7] };
}

function dateOf(textOf: (part: (typeof PARTS)[number]) => string | undefined): WrittenDate {
  return Object.fromEntries(PARTS.map((part) => [part, Number(textOf(part) ?? 0)])) as WrittenDate;
}

/** Whether there is such a day and time: Date.UTC rolls 31 November over to 1 December, and hour 25 to the next day. */
export function isRealDate({ year, month, day, hour, minute, second }: WrittenDate): boolean {
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day && minute <= 59 && second <= 59;
}

/** The fault of a date format; undefined if it is valid. */
export function findBadInputFormat(format: string): string | undefined {
  const pieces = splitFormat(format);
  const unknown = pieces.find((piece) => /[A-Za-z]/.test(piece) && FIELDS[piece] === undefined);
  if (unknown !== undefined)
    return `the input format contains ${unknown}, expected only ${Object.keys(FIELDS).join(' ')}`;
  const parts = pieces.flatMap((piece) => FIELDS[piece]?.part.replace('12', '') ?? []);
  const isOnce = new Set(parts).size === parts.length && format.length <= LONGEST_FORMAT;
  const isDay = ['year', 'month', 'day'].every((part) => parts.includes(part));
  const isHalf = pieces.includes('a') === pieces.some((piece) => /^hh?$/.test(piece));
  if (isOnce && isDay && isHalf) return undefined;
  return `the input format is "${format.slice(0, LONGEST_FORMAT)}", expected day, month and year once each, such as dd.MM.yyyy, and h only with a`;
}

/** Reads a date by a format in which `findBadInputFormat` finds nothing; undefined where it is not written so. */
export function readWrittenDate(value: string, format: string): WrittenDate | undefined {
  const { pattern, parts } = compile(format);
  const match = pattern.exec(value.trim());
  if (match === null) return undefined;
  const textOf = (part: Part) => (parts.includes(part) ? match[parts.indexOf(part) + 1] : undefined);
  const written = dateOf(textOf);
  const half = textOf('half');
  return half === undefined
    ? written
    : { ...written, hour: (Number(textOf('hour12')) % 12) + (/^p/i.test(half) ? 12 : 0) };
}

interface Compiled {
  readonly pattern: RegExp;
  readonly parts: readonly Part[];
}

/** A template has a few formats, the same for every row. */
const MOST_COMPILED = 100;
const compiled = new Map<string, Compiled>();

function compile(format: string): Compiled {
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  return remember(compiled, format, () => {
    const pieces = splitFormat(format);
    const source = pieces.map((piece) => {
      const field = FIELDS[piece];
      return field === undefined ? piece.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&') : `(${field.pattern})`;
    });
    const parts = pieces.flatMap((piece) => FIELDS[piece]?.part ?? []);
    return { pattern: new RegExp(`^${source.join('')}$`), parts };
  });
}

function splitFormat(format: string): string[] {
  return format.slice(0, LONGEST_FORMAT + 1).match(PIECE) ?? [];
}

/**
 * The format of a file's numbers: how it writes 1234.56, such as `1.234,56`. The separator of thousands may be absent, in the format
 * and in each number.
 */
const FORMAT = /^1([.,'’ ]?)234([.,])56$/;
/** What separates thousands or decimals, as a pattern: for a blank and an apostrophe also the typographic ones. */
const SEPARATORS: Readonly<Record<string, string>> = {
  '.': '\\.',
  ',': ',',
  "'": "['’]",
  '’': "['’]",
  ' ': '[ \\u00a0\\u2009\\u202f]',
};

/** The fault of a number format; undefined if it is valid. */
export function findBadNumberFormat(format: string): string | undefined {
  const [match, thousands, decimal] = FORMAT.exec(format) ?? [];
  if (match !== undefined && thousands !== decimal) return undefined;
  return 'expected how the file writes 1234.56, such as "1.234,56", "1,234.56" or "1 234,56"';
}

/** Writes a number with a point and no separators of thousands; undefined for what is not written by a valid `format`. */
export function rewriteNumber(text: string, format: string): string | undefined {
  const [match, sign, whole = '', fraction] = compileNumber(format).exec(text.trim()) ?? [];
  if (match === undefined) return undefined;
  return `${sign}${whole.replace(/\D/g, '')}${fraction === undefined ? '' : `.${fraction}`}`;
}

const numberForms = new Map<string, RegExp>();

/** Compiles a format once: there are a dozen. */
function compileNumber(format: string): RegExp {
  return remember(numberForms, format, () => {
    const [, thousands = '', decimal = '.'] = FORMAT.exec(format) ?? [];
    const separator = SEPARATORS[thousands];
    const grouped = separator === undefined ? '' : String.raw`\d{1,3}(?:${separator}\d{3})+|`;
    return new RegExp(String.raw`^([+-]?)(${grouped}\d+)(?:${SEPARATORS[decimal]}(\d+))?$`);
  });
}
