import { suggestNearest } from '../domain/text.js';
import { isRealDate } from '../template/dates-and-numbers.js';

/** What a local time means: one instant; none, as clocks skip it; two, as clocks show it twice. Instants have their offset. */
type LocalTimeReading =
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
  const [only, second] = new Set(instants);
  if (only !== undefined && second === undefined) return { kind: 'one', instant: format(only, utcMs - only) };
  const [earlier = '', later = ''] = offsets
    .map((offset) => utcMs - offset)
    .sort((one, other) => one - other)
    .map((instant) => format(instant, offsetAt(instant)));
  return { kind: only === undefined ? 'none' : 'two', readings: [earlier, later] };
}

/** Reads a local time as if it were one in UTC. */
function readAsUtc(text: string): number | undefined {
  const groups = (ISO.exec(text) ?? DOTTED.exec(text))?.groups;
  if (groups === undefined) return undefined;
  const part = (name: string) => Number(groups[name] ?? 0);
  const [year, month, day] = [part('year'), part('month'), part('day')];
  const [hour, minute, second] = [part('hour'), part('minute'), part('second')];
  if (year < 100 || !isRealDate({ year, month, day, hour, minute, second })) return undefined;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** `2026-12-01T10:00:00+08:00` */
function format(instantMs: number, offsetMs: number): string {
  const local = new Date(instantMs + offsetMs).toISOString().slice(0, 19);
  const minutes = Math.round(Math.abs(offsetMs) / MINUTE_MS);
  const pad = (value: number) => String(value).padStart(2, '0');
  return `${local}${offsetMs < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
}

/** What people write for a zone that Node's table does not have: abbreviations of the places that use them most. */
const ABBREVIATIONS: Readonly<Record<string, readonly string[]>> = {
  'Africa/Johannesburg': ['SAST'],
  'America/Chicago': ['CDT'],
  'America/Denver': ['MDT'],
  'America/Los_Angeles': ['PDT', 'PT'],
  'America/New_York': ['EDT', 'ET'],
  'America/Sao_Paulo': ['BRT'],
  'Asia/Bangkok': ['ICT'],
  'Asia/Dubai': ['GST'],
  'Asia/Hong_Kong': ['HKT'],
  'Asia/Jakarta': ['WIB'],
  'Asia/Jayapura': ['WIT'],
  'Asia/Karachi': ['PKT'],
  'Asia/Kuala_Lumpur': ['MYT'],
  'Asia/Makassar': ['WITA'],
  'Asia/Manila': ['PHT'],
  'Asia/Seoul': ['KST'],
  'Asia/Singapore': ['SGT'],
  'Australia/Perth': ['AWST'],
  'Australia/Sydney': ['AEST', 'AEDT'],
  'Europe/Berlin': ['MEZ', 'MESZ', 'CEST'],
  'Europe/Helsinki': ['OEZ', 'OESZ', 'EEST'],
  'Europe/Lisbon': ['WESZ'],
  'Europe/London': ['WEZ'],
  'Europe/Moscow': ['MSK'],
  'Pacific/Auckland': ['NZST', 'NZDT'],
};

/** The zone that was most likely meant: by an abbreviation (MEZ), a city (Berlin, New York), or a misspelt name. */
export function suggestTimeZone(written: string): string | undefined {
  const name = written.trim().replace(/\s+/g, '_');
  const known = Object.entries(ABBREVIATIONS).find(([, short]) => short.includes(name.toUpperCase()));
  if (known !== undefined) return known[0];
  // Abbreviations are near to any short name.
  if (name.length < 4) return undefined;
  const zones = Intl.supportedValuesOf('timeZone');
  const cities = new Map(zones.map((zone) => [zone.slice(zone.lastIndexOf('/') + 1), zone]));
  const city = suggestNearest(name.slice(name.lastIndexOf('/') + 1), [...cities.keys()]);
  return suggestNearest(name, zones) ?? (city === undefined ? undefined : cities.get(city));
}
