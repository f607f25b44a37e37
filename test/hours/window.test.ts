import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { DAYS, formatOpening, OpeningHours } from '../../src/hours/window.js';
import { oneIn, runsOf } from '../one-in.js';

/**
 * Windows and openings by another way than that of Volley, which reads clocks: by offsets between the transitions of a zone, as
 * temporal-polyfill says them.
 */

const FROM = Date.UTC(2012, 0, 1);
const UNTIL = Date.UTC(2036, 0, 1);
const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;

type Offset = Readonly<{ fromMs: number; minutes: number }>;

const offsets = new Map<string, Offset[]>();

function listOffsets(zone: string): Offset[] {
  const known = offsets.get(zone);
  if (known !== undefined) return known;
  const listed: Offset[] = [];
  let at: Temporal.ZonedDateTime | null = Temporal.Instant.fromEpochMilliseconds(
    FROM - 40 * 86_400_000,
  ).toZonedDateTimeISO(zone);
  for (; at !== null && at.epochMilliseconds < UNTIL + 40 * 86_400_000; at = at.getTimeZoneTransition('next'))
    listed.push({ fromMs: at.epochMilliseconds, minutes: at.offsetNanoseconds / 6e10 });
  offsets.set(zone, listed);
  return listed;
}

type Asked = Readonly<{ days: readonly (typeof DAYS)[number][]; from: number; to: number; zones: readonly string[] }>;

/** The first of 1970 was a Thursday. */
const THURSDAY = DAYS.indexOf('thu');

function isOpenInMinute({ days, from, to, zones }: Asked, atMs: number): boolean {
  return zones.every((zone) => {
    const offset = listOffsets(zone).findLast(({ fromMs }) => fromMs <= atMs)?.minutes ?? 0;
    const local = Math.floor(atMs / MINUTE_MS) + offset;
    const day = DAYS[(Math.floor(local / DAY_MINUTES) + THURSDAY) % 7];
    const minute = local % DAY_MINUTES;
    return days.some((each) => each === day) && minute >= from && minute < to;
  });
}

function isOpen(asked: Asked, fromMs: number, roomMs: number): boolean {
  for (let ms = fromMs; ms < fromMs + roomMs; ms += MINUTE_MS) if (!isOpenInMinute(asked, ms)) return false;
  return isOpenInMinute(asked, fromMs + roomMs);
}

const text = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;

const CHANGING = [
  'Europe/Berlin',
  'America/New_York',
  'America/Santiago',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Antarctica/Casey',
];
const zone = fc.oneof(fc.constantFrom(...CHANGING), fc.constantFrom(...oneIn(16, Intl.supportedValuesOf('timeZone'))));

const asked: fc.Arbitrary<Asked> = fc
  .record({
    days: fc.uniqueArray(fc.constantFrom(...DAYS), { minLength: 1 }),
    ends: fc.uniqueArray(
      fc.oneof(
        fc.nat(24).map((hour) => hour * 60),
        fc.nat(DAY_MINUTES),
      ),
      { minLength: 2, maxLength: 2 },
    ),
    zones: fc.array(zone, { minLength: 1, maxLength: 3 }),
  })
  .map(({ ends, ...rest }) => ({ ...rest, from: Math.min(...ends), to: Math.max(...ends) }));

/** Any instant, or one within two days of a change of clocks in the first zone. */
function instantsOf({ zones: [first = 'UTC'] }: Asked): fc.Arbitrary<number> {
  const changes = listOffsets(first).filter(({ fromMs }) => fromMs > FROM && fromMs < UNTIL);
  const any = fc.integer({ min: FROM, max: UNTIL });
  if (changes.length === 0) return any;
  const near = fc.tuple(fc.constantFrom(...changes), fc.integer({ min: -172_800_000, max: 172_800_000 }));
  return fc.oneof(
    any,
    near.map(([{ fromMs }, away]) => fromMs + away),
  );
}

const cases = asked.chain((window) =>
  fc.tuple(fc.constant(window), instantsOf(window), fc.constantFrom(0, 60_000, 90_500)),
);
const hoursOf = ({ days, from, to }: Asked) => new OpeningHours({ days, from: text(from), to: text(to) });

test('no instant is open that another library calls closed, nor the other way round', () => {
  fc.assert(
    fc.property(cases, ([window, atMs, roomMs]) => {
      expect(hoursOf(window).isOpen(window.zones, atMs, roomMs)).toBe(isOpen(window, atMs, roomMs));
    }),
    { numRuns: runsOf(1000) },
  );
});

test('the next opening is the first minute that another library calls open', () => {
  fc.assert(
    fc.property(cases, ([window, atMs, roomMs]) => {
      const found = hoursOf(window).findNextOpening(window.zones, atMs, roomMs);
      const first = Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
      const last = found ?? first + 14 * DAY_MINUTES * MINUTE_MS;
      const minutes = Math.ceil((last - first) / MINUTE_MS);
      const earlier = Array.from({ length: Math.max(0, minutes - 1) }, (_, index) => first + (index + 1) * MINUTE_MS);
      if (found !== undefined) expect(isOpen(window, found, roomMs)).toBe(true);
      expect(found === atMs || !isOpen(window, atMs, roomMs)).toBe(true);
      expect(earlier.find((ms) => isOpen(window, ms, roomMs))).toBeUndefined();
    }),
    { numRuns: runsOf(150) },
  );
});

test('clocks that are put forward by three hours hide no opening', () => {
  const hours = new OpeningHours({ days: DAYS, from: '03:00', to: '04:00' });
  expect(hours.findNextOpening(['Antarctica/Casey'], Date.parse('2021-10-02T15:00:00Z'))).toBe(
    Date.parse('2021-10-02T16:01:00Z'),
  );
});

test('clocks that are put back open a window once more', () => {
  const night = new OpeningHours({ days: DAYS, from: '02:30', to: '02:45' });
  expect(night.findNextOpening(['Europe/Berlin'], Date.parse('2026-10-25T00:50:00Z'))).toBe(
    Date.parse('2026-10-25T01:30:00Z'),
  );
  const evening = new OpeningHours({ days: ['sat'], from: '18:00', to: '23:30' });
  expect(evening.findNextOpening(['Asia/Beirut'], Date.parse('2026-10-24T20:45:00Z'))).toBe(
    Date.parse('2026-10-24T21:00:00Z'),
  );
});

test.each([
  ['Asia/Singapore', '27 November 2026 at 01:00 UTC (27 November 2026 at 09:00 Asia/Singapore)'],
  ['UTC', '27 November 2026 at 01:00 UTC'],
])('an opening in %s is said in UTC, and once more by other clocks', (zone, words) => {
  expect(formatOpening(Date.parse('2026-11-27T01:00:00Z'), zone)).toBe(words);
});
