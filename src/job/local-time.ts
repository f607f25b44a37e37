/** What a local time means: one instant; none, as clocks skip it; two, as clocks show it twice. Instants have their offset. */
export type LocalTimeReading =
  | { readonly kind: 'one'; readonly instant: string }
  | { readonly kind: 'none' | 'two'; readonly readings: readonly [earlier: string, later: string] };

const LOCAL_TIME = /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d)(?::(\d\d))?$/;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** No zone changes its offset twice within so long. */
const AROUND_MS = 27 * HOUR_MS;

/** Whether a text is a date and a time that the calendar has. */
export function isLocalTime(text: string): boolean {
  const utcMs = readAsUtc(text);
  return utcMs !== undefined && new Date(utcMs).toISOString().slice(0, 16) === text.replace(' ', 'T').slice(0, 16);
}

export function isTimeZone(name: string): boolean {
  // Node takes offsets such as +08:00 as well, which have no name.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
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
  return `${at} ${so} in ${timeZone}, as clocks change; expected ${reading.readings.join(' or ')}`;
}

/** As if it were a time in UTC. */
function readAsUtc(text: string): number | undefined {
  const match = LOCAL_TIME.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = match
    .slice(1)
    .map((part: string | undefined) => Number(part ?? 0));
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return undefined;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** `2026-12-01T10:00:00+08:00` */
function format(instantMs: number, offsetMs: number): string {
  const local = new Date(instantMs + offsetMs).toISOString().slice(0, 19);
  const minutes = Math.round(Math.abs(offsetMs) / MINUTE_MS);
  const pad = (value: number) => String(value).padStart(2, '0');
  return `${local}${offsetMs < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
}
