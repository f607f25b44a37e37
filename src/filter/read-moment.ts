import { isRealDate, readIsoDate, readWrittenDate } from '../template/date-input.js';

/** The day of a date as it is written, in ISO 8601 or in `format`, as a number that grows with it: 20260131. Undefined for anything else, and for a day or time that there is not. */
export function readDay(text: string, format: string | undefined): number | undefined {
  const written = format === undefined ? readIsoDate(text)?.written : readWrittenDate(text, format);
  if (written === undefined || !isRealDate(written)) return undefined;
  const [year, month, day] = written;
  return year * 10_000 + month * 100 + day;
}

/** The moment of a cell in ISO 8601 with an offset, in milliseconds; undefined for anything else: of no other is it known. */
export function readInstant(text: string): number | undefined {
  const { written, offset } = readIsoDate(text) ?? {};
  if (written === undefined || offset === undefined || !isRealDate(written)) return undefined;
  const [year, month, day, hour, minute, second] = written;
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(offset) ?? [];
  const shift = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000 * (sign === '-' ? -1 : 1);
  return Date.UTC(year, month - 1, day, hour, minute, second) - shift;
}
