import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isTimeZone } from '../../src/domain/stated-time.js';
import { isLocalTime, readLocalTime, suggestTimeZone } from '../../src/job/local-time.js';
import { runsOf } from '../one-in.js';

const ZONES = Intl.supportedValuesOf('timeZone');

describe('a local time', () => {
  test.each([
    ['2026-12-01 10:00', 'Asia/Singapore', '2026-12-01T10:00:00+08:00'],
    ['2026-12-01T10:00', 'America/New_York', '2026-12-01T10:00:00-05:00'],
    ['2026-07-01 10:00:30', 'Europe/Berlin', '2026-07-01T10:00:30+02:00'],
    ['2026-07-01 00:15', 'Asia/Kathmandu', '2026-07-01T00:15:00+05:45'],
    ['2026-12-31 23:59', 'Pacific/Kiritimati', '2026-12-31T23:59:00+14:00'],
    ['2026-03-29 03:00', 'Europe/Berlin', '2026-03-29T03:00:00+02:00'],
    ['2026-10-25 03:00', 'Europe/Berlin', '2026-10-25T03:00:00+01:00'],
    ['2026-06-01 12:00', 'UTC', '2026-06-01T12:00:00+00:00'],
    ['27.11.2026 10:00', 'Europe/Berlin', '2026-11-27T10:00:00+01:00'],
    ['1.7.2026, 9:05', 'Europe/Berlin', '2026-07-01T09:05:00+02:00'],
  ])('%s in %s is %s', (at, timeZone, instant) => {
    expect(readLocalTime(at, timeZone)).toEqual({ kind: 'one', instant });
  });

  test('that clocks skip has no meaning: before and after the change are named', () => {
    const expected = { kind: 'none', readings: ['2026-03-29T01:30:00+01:00', '2026-03-29T03:30:00+02:00'] };
    expect(readLocalTime('2026-03-29 02:30', 'Europe/Berlin')).toEqual(expected);
    const readings = ['2026-10-04T01:45:00+10:30', '2026-10-04T02:45:00+11:00'];
    expect(readLocalTime('2026-10-04 02:15', 'Australia/Lord_Howe')).toEqual({ kind: 'none', readings });
  });

  test('that clocks show twice has two meanings', () => {
    const expected = { kind: 'two', readings: ['2026-10-25T02:30:00+02:00', '2026-10-25T02:30:00+01:00'] };
    expect(readLocalTime('2026-10-25 02:30', 'Europe/Berlin')).toEqual(expected);
  });

  test('is what the zone shows at the instant that it is read as, whatever the zone and time', () => {
    const times = fc.date({ min: new Date('2000-01-01'), max: new Date('2040-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), times, (timeZone, date) => {
        const at = date.toISOString().slice(0, 16).replace('T', ' ');
        const reading = readLocalTime(at, timeZone);
        const shown = (instant: string) =>
          new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(
            new Date(instant),
          );
        if (reading.kind === 'one') expect(shown(reading.instant)).toBe(at);
        else if (reading.kind === 'two') expect(reading.readings.map(shown)).toEqual([at, at]);
        else expect(reading.readings.map(shown)).not.toContain(at);
      }),
      { numRuns: runsOf(300) },
    );
  });

  test('is a date of the calendar with hours and minutes', () => {
    const good = ['2026-12-01 10:00', '2026-12-01T10:00:59', '2028-02-29 00:00', '29.02.2028 10:00'];
    const bad = [
      '2026-02-29 10:00',
      '2026-13-01 10:00',
      '2026-12-01 24:00',
      '2026-12-01',
      '10:00',
      '2026-12-01 10:00Z',
      '29.02.2026 10:00',
      '12.13.2026 10:00',
      '27.11.26 10:00',
      '27/11/2026 10:00',
    ];
    expect([...good, ...bad].filter(isLocalTime)).toEqual(good);
  });
});

test('a time zone has a name of the zone table: no offset, no invention', () => {
  const expected = ['Asia/Singapore', 'UTC', 'Europe/Kyiv'];
  expect(['Asia/Singapore', 'UTC', 'Europe/Kyiv', '+08:00', 'Singapur', ''].filter(isTimeZone)).toEqual(expected);
});

test.each([
  ['MEZ', 'Europe/Berlin'],
  ['mesz', 'Europe/Berlin'],
  ['Berlin', 'Europe/Berlin'],
  ['berlin', 'Europe/Berlin'],
  ['Europe/Berlni', 'Europe/Berlin'],
  ['Singapur', 'Asia/Singapore'],
  ['SGT', 'Asia/Singapore'],
  ['Kuala Lumpur', 'Asia/Kuala_Lumpur'],
  ['New York', 'America/New_York'],
  ['Australia/Sidney', 'Australia/Sydney'],
  ['XYZ', undefined],
  ['+08:00', undefined],
  ['next Tuesday', undefined],
])('for the zone %s %s is suggested, which is one', (written, zone) => {
  expect(isTimeZone(written)).toBe(false);
  expect(suggestTimeZone(written)).toBe(zone);
  expect(zone === undefined || isTimeZone(zone)).toBe(true);
});

test('each abbreviation that is known stands for a zone', () => {
  const letters = 'ABCDEFGHIKLMNOPRSTUWXYZ'.split('');
  const short = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => `${a}${b}${c}`)));
  const zones = short.flatMap((each) => suggestTimeZone(each) ?? []);
  expect(zones.length).toBeGreaterThan(10);
  expect(zones.filter((zone) => !isTimeZone(zone))).toEqual([]);
});
