import { readWrittenDate } from '../template/date-input.js';

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s?(Z|[+-]\d\d:?\d\d)?)?$/i;

/** The day of a date as it is written, in ISO 8601 or in `format`, as a number that grows with it: 20260131. Undefined for anything else, and for a day or time that there is not. */
export function readDay(text: string, format: string | undefined): number | undefined {
  const written = format === undefined ? readIso(text)?.written : readWrittenDate(text, format);
  if (written === undefined || !exists(written)) return undefined;
  const [year, month, day] = written;
  return year * 10_000 + month * 100 + day;
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
