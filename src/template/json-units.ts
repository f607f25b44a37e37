import { BACKSLASH } from '../domain/bytes/ascii.js';
import { addUcs2Character, septetsByCodeUnit } from './gsm7.js';

/** Bytes from here on begin characters of two, of three, and of four bytes. */
const TWO_BYTES = 0xc0;
const THREE_BYTES = 0xe0;
const FOUR_BYTES = 0xf0;

/** By the byte behind a backslash the unit that it stands for; 0 where JSON gives the number of one. */
const ESCAPED_UNITS = new Uint8Array(256);
for (const character of '"\\\n\r\f\t\b')
  ESCAPED_UNITS[JSON.stringify(character).charCodeAt(2)] = character.charCodeAt(0);

/** Sums up the message units of texts that are JSON in UTF-8. */
export class JsonUnits {
  /** Of GSM-7, escapes included, of the characters that it has. */
  septets = 0;
  /** UTF-16 code units. */
  units = 0;
  /** Characters that GSM-7 does not have, as `addUcs2Character` collects them. */
  ucs2 = '';

  clear(): void {
    this.septets = 0;
    this.units = 0;
    this.ucs2 = '';
  }

  /** Adds what was added up before. */
  addUnits({ septets, units, ucs2 }: JsonUnits): void {
    this.septets += septets;
    this.units += units;
    if (this.ucs2 === '') this.ucs2 = ucs2;
    else for (const character of ucs2) this.ucs2 = addUcs2Character(this.ucs2, character);
  }

  /** False for a text with surrogates, or with units that JSON gives by number: it is then not added. */
  add(json: Uint8Array, start: number, end: number): boolean {
    let { septets, units, ucs2 } = this;
    for (let at = start; at < end; at += 1) {
      let unit = json[at] as number;
      if (unit === BACKSLASH) {
        at += 1;
        unit = ESCAPED_UNITS[json[at] as number] as number;
        if (unit === 0) return false;
      } else if (unit >= TWO_BYTES) {
        if (unit >= FOUR_BYTES) return false;
        const more = unit >= THREE_BYTES ? 2 : 1;
        unit = readUnit(json, at);
        at += more;
      }
      const width = septetsByCodeUnit[unit] as number;
      if (width === 0) ucs2 = addUcs2Character(ucs2, String.fromCharCode(unit));
      septets += width;
      units += 1;
    }
    this.septets = septets;
    this.units = units;
    this.ucs2 = ucs2;
    return true;
  }
}

/** The unit that begins at `at`, of UTF-8 of two bytes or three. */
export function readUnit(utf8: Uint8Array, at: number): number {
  const lead = utf8[at] as number;
  const second = (utf8[at + 1] as number) & 0x3f;
  if (lead < THREE_BYTES) return ((lead & 0x1f) << 6) | second;
  return ((lead & 0x0f) << 12) | (second << 6) | ((utf8[at + 2] as number) & 0x3f);
}
