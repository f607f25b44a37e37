import { formatTime, formatZoned, isTimeZone, listZones } from '../domain/stated-time.js';
import type { Window } from './window.js';

/**
 * Rows with the same hours are a group, and share requests: those of a country where the zone is that of the recipient, else
 * those of a zone. The name of a group is the country (ISO alpha-2) or the zone.
 */

/** Zones in all of which the window must be open for a group; none where that is not known. */
export function zonesOf({ timeZone }: Pick<Window, 'timeZone'>, group: string): readonly string[] {
  if (timeZone === 'recipient') return listZones(group);
  return isTimeZone(group) ? [group] : [];
}

/** The group of a row, by its number's country or the cell of its column; undefined where its zone is not known. */
export function findGroup(
  { timeZone }: Pick<Window, 'timeZone'>,
  row: { readonly country: string | undefined; readonly cell: string },
): string | undefined {
  if (timeZone === 'recipient') return row.country !== undefined && hasZones(row.country) ? row.country : undefined;
  const zone = typeof timeZone === 'string' ? timeZone : row.cell.trim();
  return isKnownZone(zone) ? zone : undefined;
}

const zones = new Map<string, boolean>();
const MOST_NAMES = 1000;

function hasZones(country: string): boolean {
  return remember(country, () => listZones(country).length > 0);
}

function isKnownZone(name: string): boolean {
  return remember(`zone ${name}`, () => isTimeZone(name));
}

/** Cells may be anything: only so many are kept. */
function remember(name: string, find: () => boolean): boolean {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const found = find();
  if (zones.size < MOST_NAMES) zones.set(name, found);
  return found;
}

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
