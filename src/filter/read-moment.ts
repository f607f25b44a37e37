import { readWrittenDate } from '../template/date-input.js';

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s?(Z|[+-]\d\d:?\d\d)?)?$/i;

/** The day of a date as it is written, in ISO 8601 or in `format`, as a number that grows with it: 20260131. Undefined for anything else, and for a day or time that there is not. */
export function readDay(text: string, format: string | undefined): number | undefined {
  const written = format === undefined ? readIso(text)?.written : readWrittenDate(text, format);
  if (written === undefined || !exists(written)) return undefined;
  const [year, month, day] = written;
  return year * 10_000 + month * 100 + day;
}

const ZERO = 0x30;
const HYPHEN = 0x2d;
/** Of the bytes of `2026-01-31`, which of them are digits. */
const DIGITS_AT = [0, 1, 2, 3, 5, 6, 8, 9] as const;

/** The same of the bytes of a cell that is an ISO 8601 day and nothing else; undefined where the text must be looked at. */
export function readDayBytes(bytes: Uint8Array, start: number, end: number): number | undefined {
  if (end - start !== '2026-01-31'.length || bytes[start + 4] !== HYPHEN || bytes[start + 7] !== HYPHEN)
    return undefined;
  let value = 0;
  for (const at of DIGITS_AT) {
    const digit = (bytes[start + at] as number) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  const day = value % 100;
  const month = ((value - day) / 100) % 100;
  // Every month has the first 28.
  return month >= 1 && month <= 12 && day >= 1 && day <= 28 ? value : undefined;
}

/** The moment of a cell in ISO 8601 with an offset, in milliseconds; undefined for anything else: of no other is it known. */
export function readInstant(text: string): number | undefined {
  const { written, offset } = readIso(text) ?? {};
  if (written === undefined || offset === undefined || !exists(written)) return undefined;
  const [year, month, day, hour, minute, second] = written;
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(offset) ?? [];
  const shift = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000 * (sign === '-' ? -1 : 1);
  return Date.UTC(year, month - 1, day, hour, minute, second) - shift;
}

type Written = readonly [number, number, number, number, number, number];

function readIso(text: string): { written: Written; offset: string | undefined } | undefined {
  const match = ISO.exec(text.trim());
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as [...Written];
  return { written: [year, month, day, hour, minute, second], offset: match[7] };
}

/** Date.UTC rolls 31 November over to 1 December, and hour 25 to the next day. */
function exists([year, month, day, hour, minute, second]: Written): boolean {
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day && minute <= 59 && second <= 59;
}
