import { remember } from '../domain/is-object.js';
import { formatTime, formatZoned, isTimeZone, listZones } from '../domain/stated-time.js';

/**
 * The hours in which messages may leave. Whether an instant lies in them is asked of what a zone's clock shows then, by Node's own
 * tables; no instant is ever computed from a local time, so that skipped and repeated hours need no rule. Pure: no clock.
 */

export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
/** The window of a step, as its job has it. */
export interface Window {
  /** From the first minute to before the last one, by the clock of each zone. */
  readonly days: readonly (typeof DAYS)[number][];
  /** `09:00` */
  readonly from: string;
  /** After `from`; `24:00` is the end of the day. */
  readonly to: string;
  /** Whose clock counts: `recipient` (all zones of the country of the number), a zone by its name, or the column that names one. */
  readonly timeZone: string | { readonly column: string };
  /** What happens to a row whose zone is not known. */
  readonly unknown: 'reject' | 'hold';
  /** What a run does once nothing that is left may be sent. */
  readonly outside: 'stop' | 'wait';
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
const SEARCHED_MINUTES = 14 * DAY_MINUTES;
export const SEARCHED_MS: number = SEARCHED_MINUTES * MINUTE_MS;

/** Minutes since midnight; undefined for a text that is no time of a day. */
export function parseMinutes(text: string): number | undefined {
  const [, hour = '', minute = ''] = /^(\d\d?):(\d\d)$/.exec(text) ?? [];
  const minutes = Number(hour) * 60 + Number(minute);
  return hour === '' || Number(minute) > 59 || minutes > DAY_MINUTES ? undefined : minutes;
}

/** Whether a window is open, in groups of time zones. Each zone is read once a minute. */
export class OpeningHours {
  readonly #days: ReadonlySet<string>;
  readonly #from: number;
  readonly #to: number;
  readonly #clocks = new Map<string, { format: Intl.DateTimeFormat; minute: number; local: LocalMinute }>();

  constructor({ days, from, to }: Pick<Window, 'days' | 'from' | 'to'>) {
    this.#days = new Set(days);
    this.#from = parseMinutes(from) ?? DAY_MINUTES;
    this.#to = parseMinutes(to) ?? 0;
  }

  /** Whether it is open in all of the zones, from an instant until `roomMs` later; never where there are none. */
  isOpen(zones: readonly string[], atMs: number, roomMs = 0): boolean {
    const last = Math.floor((atMs + roomMs) / MINUTE_MS);
    for (let minute = Math.floor(atMs / MINUTE_MS); minute <= last; minute += 1) {
      if (this.#findClosed(zones, minute) !== undefined) return false;
    }
    return zones.length > 0;
  }

  /** The first minute from an instant on at which it is open for as long as `roomMs`; undefined where there is none in 14 days. */
  findNextOpening(zones: readonly string[], fromMs: number, roomMs = 0): number | undefined {
    if (this.isOpen(zones, fromMs, roomMs)) return fromMs;
    const first = Math.floor(fromMs / MINUTE_MS) + 1;
    for (let minute = first; minute <= first + SEARCHED_MINUTES; ) {
      const closed = this.#findClosed(zones, minute);
      if (closed === undefined && this.isOpen(zones, minute * MINUTE_MS, roomMs)) return minute * MINUTE_MS;
      minute += closed === undefined ? 1 : this.#minutesToPass(closed, minute);
    }
    return undefined;
  }

  #findClosed(zones: readonly string[], minute: number): string | undefined {
    return zones.find((zone) => {
      const local = this.#read(zone, minute);
      return !this.#days.has(local.day) || local.minute < this.#from || local.minute >= this.#to;
    });
  }

  /** How long a closed zone stays closed: to its next opening by today's clock; 1 where the clock is put forward or back before that. */
  #minutesToPass(zone: string, minute: number): number {
    const ahead = this.#from - this.#read(zone, minute).minute;
    const minutes = ahead > 0 ? ahead : ahead + DAY_MINUTES;
    return this.#read(zone, minute + minutes).minute === this.#from ? minutes : 1;
  }

  #read(zone: string, minute: number): LocalMinute {
    const known = this.#clocks.get(zone);
    if (known?.minute === minute) return known.local;
    const format = known?.format ?? createClock(zone);
    // `Thu 05:30`
    const shown = format.format(minute * MINUTE_MS);
    const local = { day: shown.slice(0, 3).toLowerCase(), minute: parseMinutes(shown.slice(-5)) ?? DAY_MINUTES };
    this.#clocks.set(zone, { format, minute, local });
    return local;
  }
}

interface LocalMinute {
  readonly day: string;
  readonly minute: number;
}

function createClock(timeZone: string): Intl.DateTimeFormat {
  const hours = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat('en-US', { timeZone, calendar: 'gregory', weekday: 'short', ...hours });
}

/**
 * Zones in all of which the window must be open for a group; none where that is not known. Rows with the same hours are a group, and share
 * requests: those of a country (its name is the ISO alpha-2) where the zone is that of the recipient, else those of a zone.
 */
export function zonesOf({ timeZone }: Pick<Window, 'timeZone'>, group: string): readonly string[] {
  if (timeZone === 'recipient') return listZones(group);
  return isTimeZone(group) ? [group] : [];
}

/** The group of a row, by its number's country or the cell of its column; undefined where its zone is not known. */
export function findGroup(
  { timeZone }: Pick<Window, 'timeZone'>,
  row: { readonly country: string | undefined; readonly cell: string },
): string | undefined {
  const isCountry = timeZone === 'recipient';
  const group = isCountry ? (row.country ?? '') : typeof timeZone === 'string' ? timeZone : row.cell.trim();
  if (knownGroups.size >= MOST_KNOWN) knownGroups.clear();
  const key = `${isCountry ? 'country' : 'zone'} ${group}`;
  const isKnown = remember(knownGroups, key, () => zonesOf({ timeZone }, group).length > 0);
  return isKnown ? group : undefined;
}

/** Whether a group has zones. Cells may be anything: only so many are kept. */
const knownGroups = new Map<string, boolean>();
const MOST_KNOWN = 1000;

export interface Opening {
  readonly group: string;
  readonly atMs: number;
  /** One of the group's. */
  readonly zone: string;
}

/** `27 November 2026 at 01:00 UTC (27 November 2026 at 09:00 Asia/Singapore)` */
export function formatOpening(atMs: number, zone: string): string {
  const utc = formatTime({ at: new Date(atMs).toISOString() });
  return zone === 'UTC' ? utc : `${utc} (${formatZoned(atMs, zone)})`;
}

/** `it opens next on 27 November 2026 at 01:00 UTC (27 November 2026 at 09:00 Asia/Singapore), for SG` */
export function describeOpening(opening: Opening | undefined): string {
  if (opening === undefined) return 'it does not open in 14 days';
  const { group, atMs, zone } = opening;
  return `it opens next on ${formatOpening(atMs, zone)}${group === zone ? '' : `, for ${group}`}`;
}
