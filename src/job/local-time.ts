/** What a local time means: one instant; none, as clocks skip it; two, as clocks show it twice. Instants have their offset. */
export type LocalTimeReading =
  | { readonly kind: 'one'; readonly instant: string }
  | { readonly kind: 'none' | 'two'; readonly readings: readonly [earlier: string, later: string] };

const ISO = /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)[ T](?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d))?$/;
/** Dots mean day, month, year, wherever dates are written with them; with slashes the month may come first. */
const DOTTED = /^(?<day>\d\d?)\.(?<month>\d\d?)\.(?<year>\d{4}),? (?<hour>\d\d?):(?<minute>\d\d)(?::(?<second>\d\d))?$/;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** No zone changes its offset twice within so long. */
const AROUND_MS = 27 * HOUR_MS;

/** Whether a text is a date and a time that the calendar has: `2026-12-01 10:00` or `01.12.2026 10:00`. */
export function isLocalTime(text: string): boolean {
  return readAsUtc(text) !== undefined;
}

/** Reads a local time (`isLocalTime`) in a time zone (`isTimeZone`), by Node's own table of zones. The machine's zone does not matter. */
export function readLocalTime(at: string, timeZone: string): LocalTimeReading {
  const utcMs = readAsUtc(at) ?? Number.NaN;
  const clock = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'gregory',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const offsetAt = (instantMs: number) => {
    const part = Object.fromEntries(clock.formatToParts(instantMs).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 0, hour = 0, minute = 0, second = 0 } = part;
    return Date.UTC(year, month - 1, day, hour, minute, second) - instantMs;
  };
  const offsets = [offsetAt(utcMs - AROUND_MS), offsetAt(utcMs + AROUND_MS)];
  const instants = offsets.filter((offset) => offsetAt(utcMs - offset) === offset).map((offset) => utcMs - offset);
  const distinct = [...new Set(instants)].sort((one, other) => one - other);
  const [only, second] = distinct;
  if (only !== undefined && second === undefined) return { kind: 'one', instant: format(only, utcMs - only) };
  const readings = offsets
    .map((offset) => utcMs - offset)
    .sort((one, other) => one - other)
    .map((instant) => format(instant, offsetAt(instant)));
  const [earlier = '', later = ''] = readings;
  return { kind: distinct.length === 0 ? 'none' : 'two', readings: [earlier, later] };
}

/** Of a local time that clocks skip, or show twice: what is so, and both readings. */
export function findLocalTimeFault(at: string, timeZone: string): string | undefined {
  const reading = readLocalTime(at, timeZone);
  if (reading.kind === 'one') return undefined;
  const so = reading.kind === 'none' ? 'does not exist' : 'exists twice';
  return `${at}, which ${so} in ${timeZone}, as clocks change; expected ${reading.readings.join(' or ')}`;
}

/** As if it were a time in UTC. */
function readAsUtc(text: string): number | undefined {
  const groups = (ISO.exec(text) ?? DOTTED.exec(text))?.groups;
  if (groups === undefined) return undefined;
  const part = (name: string) => Number(groups[name] ?? 0);
  const [year, month, day] = [part('year'), part('month'), part('day')];
  const [hour, minute, second] = [part('hour'), part('minute'), part('second')];
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  // Date.UTC rolls 31 November over to 1 December.
  const isReal = year >= 100 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isReal && hour < 24 && minute < 60 && second < 60 ? date.getTime() : undefined;
}

/** `2026-12-01T10:00:00+08:00` */
function format(instantMs: number, offsetMs: number): string {
  const local = new Date(instantMs + offsetMs).toISOString().slice(0, 19);
  const minutes = Math.round(Math.abs(offsetMs) / MINUTE_MS);
  const pad = (value: number) => String(value).padStart(2, '0');
  return `${local}${offsetMs < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
}
