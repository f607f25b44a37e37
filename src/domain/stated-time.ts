import { remember } from './is-object.js';

/** A time as a job has it: an instant, ISO 8601 with its offset, and the zone whose clocks the offset is of. */
export interface StatedTime {
  readonly at: string;
  /** Absent where the job gives the offset alone. */
  readonly timeZone?: string | undefined;
}

export const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);
const WRITTEN = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*?(Z|[+-]\d\d:\d\d)$/;

export function millisecondsOf({ at }: StatedTime): number {
  return Date.parse(at);
}

/** Milliseconds since 1970 of a time that the service wrote, ISO 8601; NaN for any other text. Without an offset it is UTC, whatever zone this machine has. */
export function parseServiceTime(text: string): number {
  return Date.parse(/T[\d:.,]+$/.test(text) ? `${text}Z` : text);
}

/** A moment by the clocks of a zone, to the minute. */
export function stateTime(ms: number, timeZone: string): StatedTime {
  const local = readClock(ms, timeZone).replace(' ', 'T');
  const minutes = Math.round(Date.parse(`${local}Z`) / 60_000) - Math.floor(ms / 60_000);
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const offset = `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
  return { at: `${local}${offset}`, timeZone };
}

/** A zone whose clocks all of a country (ISO alpha-2) has at a moment; undefined for one of several times, or of none. */
export function findZone(country: string, ms: number): string | undefined {
  const zones = listZones(country);
  return new Set(zones.map((zone) => readClock(ms, zone))).size === 1 ? zones[0] : undefined;
}

/** `23 November 2026`, in UTC. */
export function formatDay(ms: number): string {
  const date = new Date(ms);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

/** `27 November 2026 at 10:00 Europe/Berlin`: by the clock of the place; without a zone `10:00 UTC+01:00`. */
export function formatTime({ at, timeZone }: StatedTime): string {
  const [, day = '', clock = '', offset = ''] = WRITTEN.exec(at) ?? [];
  if (day === '') return at;
  const zone = timeZone ?? (/^(?:Z|[+-]00:00)$/.test(offset) ? 'UTC' : `UTC${offset}`);
  return `${formatDay(Date.parse(day))} at ${clock} ${zone}`;
}

/**
 * What clocks show at a moment in countries (ISO alpha-2) where they differ from it: `GB 09:00`, `NZ 22:00`; with the
 * day where that is another, and of a country of several zones the first and the last: `US 26 November 23:00 to 27
 * November 04:00`. A country without zones, or whose clocks agree, is not in it.
 */
export function listLocalTimes(moment: StatedTime, countries: readonly string[]): string[] {
  const [, day, clock] = WRITTEN.exec(moment.at) ?? [];
  const instantMs = millisecondsOf(moment);
  return countries.flatMap((country) => {
    const locals = listZones(country).map((zone) => readClock(instantMs, zone));
    const distinct = [...new Set(locals)].toSorted();
    const [first, last] = [distinct[0], distinct.at(-1)];
    if (first === undefined || last === undefined) return [];
    if (first === last && first === `${day} ${clock}`) return [];
    const isOtherDay = [first, last].some((local) => local.slice(0, 10) !== day);
    const shown = [...new Set([first, last])].map((local) => (isOtherDay ? withDay(local) : local.slice(11)));
    return [`${country} ${shown.join(' to ')}`];
  });
}

/** Time zones of a country (ISO alpha-2), by Node's own tables; newer versions of Node have a method in place of the property. */
export function listZones(country: string): readonly string[] {
  if (!/^[A-Z]{2}$/.test(country)) return [];
  const locale = new Intl.Locale(`und-${country}`) as { timeZones?: string[]; getTimeZones?: () => string[] };
  return locale.getTimeZones?.() ?? locale.timeZones ?? [];
}

/** The name of a time zone, or an alias of it. */
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

/** The zone of this machine; UTC where the variable TZ is empty, or names none: Node then counts by UTC, and reports a zone that it refuses, or none. */
export function ownZone(): string {
  const zone = String(new Intl.DateTimeFormat().resolvedOptions().timeZone);
  return zone !== 'undefined' && isTimeZone(zone) ? zone : 'UTC';
}

/** What is wrong with the variable TZ, by which days are counted. */
export function warnOfZone(TZ = ''): string | undefined {
  const zone: string | undefined = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (TZ === '' || (zone !== undefined && isTimeZone(TZ.replace(/^:/, '')))) return undefined;
  return `the variable TZ is ${JSON.stringify(TZ)}, which names no time zone, so days are not counted by it; expected a name such as Europe/Berlin`;
}

const clocks = new Map<string, Intl.DateTimeFormat>();
const TO_THE_MINUTE = {
  calendar: 'gregory',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
} as const;

/** `2026-11-27 09:00`. Read from English, the one language that each Node has: that of Alpine Linux comes without others. */
export function readClock(instantMs: number, timeZone: string): string {
  const clock = remember(clocks, timeZone, () => new Intl.DateTimeFormat('en-US', { ...TO_THE_MINUTE, timeZone }));
  return clock.format(instantMs).replace(/^(\d+)\/(\d+)\/(\d+),/, '$3-$1-$2');
}

/** `27 November 2026 at 09:00 Asia/Singapore`: an instant by the clock of a zone. */
export function formatZoned(atMs: number, timeZone: string): string {
  return formatTime(stateTime(atMs, timeZone));
}

/** `10:04 Europe/Berlin`, by the clock of this machine, for the person at it; with the day where it is another than that of `nowMs`. */
export function formatLocalClock(atMs: number, nowMs: number): string {
  const timeZone = ownZone();
  const [then, now] = [readClock(atMs, timeZone), readClock(nowMs, timeZone)];
  const shown = then.slice(0, 10) === now.slice(0, 10) ? then.slice(11) : withDay(then);
  return `${shown} ${timeZone}`;
}

/** `2026-11-27 09:00` as `27 November 09:00`. */
function withDay(local: string): string {
  return `${Number(local.slice(8, 10))} ${MONTHS[Number(local.slice(5, 7)) - 1]} ${local.slice(11)}`;
}
