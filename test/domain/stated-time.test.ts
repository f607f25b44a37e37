import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  findZone,
  formatLocalClock,
  formatTime,
  isTimeZone,
  listLocalTimes,
  ownZone,
  parseServiceTime,
  stateTime,
  warnOfZone,
} from '../../src/domain/stated-time.js';

const IN_BERLIN = { at: '2026-11-27T10:00:00+01:00', timeZone: 'Europe/Berlin' };

test.each([
  [IN_BERLIN, '27 November 2026 at 10:00 Europe/Berlin'],
  [{ at: '2026-11-27T10:00:00+01:00' }, '27 November 2026 at 10:00 UTC+01:00'],
  [{ at: '2026-11-27T10:00:00Z' }, '27 November 2026 at 10:00 UTC'],
  [{ at: '2026-11-27T10:00:30.5+00:00' }, '27 November 2026 at 10:00 UTC'],
  [{ at: '2026-12-01T00:30:00+08:00', timeZone: 'Asia/Singapore' }, '1 December 2026 at 00:30 Asia/Singapore'],
])('%j reads %s: by the clock of its place, with the name of the zone', (moment, text) => {
  expect(formatTime(moment)).toBe(text);
});

describe('what clocks show in the countries of recipients', () => {
  test('is said where it differs, with the day where that is another', () => {
    expect(listLocalTimes({ ...IN_BERLIN, at: '2026-11-27T20:00:00+01:00' }, ['JP'])).toEqual(['JP 28 November 04:00']);
    const expected = ['GB 09:00', 'SG 17:00', 'NZ 22:00 to 22:45'];
    expect(listLocalTimes(IN_BERLIN, ['DE', 'AT', 'GB', 'SG', 'NZ'])).toEqual(expected);
  });

  test('of a country with several zones is the first and the last', () => {
    const expected = ['US 26 November 23:00 to 27 November 04:00', 'ES 09:00 to 10:00', 'ID 16:00 to 18:00'];
    expect(listLocalTimes(IN_BERLIN, ['US', 'ES', 'ID'])).toEqual(expected);
  });

  test('is by the offset alone where the job gives no zone, and nothing for what is no country', () => {
    expect(listLocalTimes({ at: '2026-07-01T08:00:00Z' }, ['GB', 'IS', '', 'XX', '001', 'C11'])).toEqual(['GB 09:00']);
  });

  test('does not hang on the zone of the machine', () => {
    elsewhere(() => expect(listLocalTimes(IN_BERLIN, ['DE', 'GB'])).toEqual(['GB 09:00']));
  });
});

test.each([
  ['2026-11-21T12:00:01Z', '2026-11-21T12:00:01.000Z'],
  ['2026-11-21T12:00:01.41', '2026-11-21T12:00:01.410Z'],
  ['2026-11-21T12:00:01', '2026-11-21T12:00:01.000Z'],
  ['2026-11-21T20:00:01.4297387+08:00', '2026-11-21T12:00:01.429Z'],
  ['2026-11-21T04:00-08:00', '2026-11-21T12:00:00.000Z'],
])('the service means by %s the moment %s, in whatever zone this machine is', (text, moment) => {
  elsewhere(() => expect(new Date(parseServiceTime(text)).toISOString()).toBe(moment));
});

test.each(['', 'soon', 'T', 'T12:00:01'])('the service means no time by "%s"', (text) => {
  expect(parseServiceTime(text)).toBeNaN();
});

/** On a machine in a zone that is no other's. */
function elsewhere(act: () => void): void {
  const before = process.env.TZ;
  process.env.TZ = 'Pacific/Kiritimati';
  try {
    act();
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
}

test.each([
  ['2026-07-01T12:00:30Z', 'Europe/Berlin', '2026-07-01T14:00+02:00'],
  ['2026-12-01T00:30:59Z', 'America/St_Johns', '2026-11-30T21:00-03:30'],
  ['2026-12-01T00:00:00Z', 'Asia/Kathmandu', '2026-12-01T05:45+05:45'],
  ['2026-12-01T00:00:00Z', 'UTC', '2026-12-01T00:00+00:00'],
])('%s by the clocks of %s is %s', (instant, timeZone, at) => {
  expect(stateTime(Date.parse(instant), timeZone)).toEqual({ at, timeZone });
});

test('a clock is read where Node knows English alone, as that of Alpine Linux', () => {
  const { DateTimeFormat } = Intl;
  class EnglishOnly extends DateTimeFormat {
    constructor(locale?: string, options?: Intl.DateTimeFormatOptions) {
      super(locale?.startsWith('en') === true ? locale : 'en-US', options);
    }
  }
  vi.stubGlobal('Intl', Object.create(Intl, { DateTimeFormat: { value: EnglishOnly } }));
  onTestFinished(() => void vi.unstubAllGlobals());
  // A zone that no other test reads: formats are kept.
  expect(stateTime(Date.UTC(2026, 0, 2, 0, 5), 'Asia/Almaty').at).toBe('2026-01-02T05:05+05:00');
});

test('a country has a zone where all its clocks agree at that moment', () => {
  const at = Date.UTC(2026, 10, 24);
  expect([findZone('SG', at), findZone('DE', at), findZone('US', at), findZone('ES', at), findZone('', at)]).toEqual([
    'Asia/Singapore',
    'Europe/Berlin',
    ...Array(3).fill(undefined),
  ]);
});

describe('a variable TZ that names no zone', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test.each(['', 'Europe/Berln', 'europe/berlin', 'Europe/Berlin ', 'CET-1CEST', '/usr/share/zoneinfo/Europe/Berlin'])(
    'leaves the clock of the machine at UTC, and a time of it can be shown: %j',
    (zone) => {
      vi.stubEnv('TZ', zone);
      expect(ownZone()).toBe('UTC');
      expect(formatLocalClock(Date.UTC(2026, 10, 24, 9, 30), Date.UTC(2026, 10, 24))).toBe('09:30 UTC');
      if (zone === '') expect(warnOfZone(zone)).toBeUndefined();
      else expect(warnOfZone(zone)).toContain(`the variable TZ is "${zone}"`);
    },
  );

  test.each(['UTC', 'Europe/Berlin', ':Europe/Berlin', 'EST5EDT', 'Asia/Calcutta'])('is not %s', (zone) => {
    vi.stubEnv('TZ', zone);
    expect(isTimeZone(ownZone())).toBe(true);
    expect(warnOfZone(zone)).toBeUndefined();
  });
});
