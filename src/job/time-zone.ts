import { suggestNearest } from '../domain/suggest.js';

/** What people write for a zone that Node's table does not have: abbreviations of the places that use them most. */
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  MEZ: 'Europe/Berlin',
  MESZ: 'Europe/Berlin',
  CEST: 'Europe/Berlin',
  WEZ: 'Europe/London',
  WESZ: 'Europe/Lisbon',
  OEZ: 'Europe/Helsinki',
  OESZ: 'Europe/Helsinki',
  EEST: 'Europe/Helsinki',
  MSK: 'Europe/Moscow',
  GST: 'Asia/Dubai',
  PKT: 'Asia/Karachi',
  ICT: 'Asia/Bangkok',
  WIB: 'Asia/Jakarta',
  WITA: 'Asia/Makassar',
  WIT: 'Asia/Jayapura',
  SGT: 'Asia/Singapore',
  MYT: 'Asia/Kuala_Lumpur',
  HKT: 'Asia/Hong_Kong',
  PHT: 'Asia/Manila',
  KST: 'Asia/Seoul',
  AEST: 'Australia/Sydney',
  AEDT: 'Australia/Sydney',
  AWST: 'Australia/Perth',
  NZST: 'Pacific/Auckland',
  NZDT: 'Pacific/Auckland',
  EDT: 'America/New_York',
  ET: 'America/New_York',
  CDT: 'America/Chicago',
  MDT: 'America/Denver',
  PDT: 'America/Los_Angeles',
  PT: 'America/Los_Angeles',
  BRT: 'America/Sao_Paulo',
  SAST: 'Africa/Johannesburg',
};

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

/** The zone that was most likely meant: by an abbreviation (MEZ), a city (Berlin, New York), or a misspelt name. */
export function suggestTimeZone(written: string): string | undefined {
  const name = written.trim().replace(/\s+/g, '_');
  const known = ABBREVIATIONS[name.toUpperCase()];
  if (known !== undefined) return known;
  // Abbreviations are near to any short name.
  if (name.length < 4) return undefined;
  const zones = Intl.supportedValuesOf('timeZone');
  const cities = new Map(zones.map((zone) => [zone.slice(zone.lastIndexOf('/') + 1), zone]));
  const city = suggestNearest(name.slice(name.lastIndexOf('/') + 1), [...cities.keys()]);
  return suggestNearest(name, zones) ?? (city === undefined ? undefined : cities.get(city));
}
