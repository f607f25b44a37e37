import { describe, expect, test } from 'vitest';
import { findTimeFault, formatAhead } from '../../src/kinds/schedule.js';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const moment = (at: string | undefined) => (at === undefined ? undefined : { at });
const times = (scheduled: string | undefined, expiry: string | undefined) => ({
  scheduled: moment(scheduled),
  expiry: moment(expiry),
});

describe('times of a template', () => {
  test.each([
    [undefined, undefined],
    ['2026-11-22T20:00:01+08:00', undefined],
    ['2026-11-29T12:00:00Z', undefined],
    ['2026-11-22T12:10:00Z', '2026-11-23T00:00:00Z'],
    [undefined, '2027-11-22T12:00:00Z'],
  ])('scheduled %s and expiry %s can be sent', (scheduled, expiry) => {
    expect(findTimeFault(times(scheduled, expiry), NOW)).toBeUndefined();
  });

  test.each([
    ['2026-11-22T12:00:00Z', undefined, /template\.scheduled, .*, is in the past/],
    ['2026-11-22T13:00:00+08:00', undefined, /template\.scheduled, .*, is in the past/],
    ['2026-11-29T12:00:01Z', undefined, /template\.scheduled, .*, is 8 days ahead, expected 7 at most/],
    ['2026-12-15T12:00:00Z', undefined, /is 23 days ahead/],
    [undefined, '2026-11-22T11:59:59Z', /template\.expiry, .*, is in the past/],
    ['2026-11-23T12:00:00Z', '2026-11-23T12:00:00Z', /template\.expiry, .*, is not after template\.scheduled/],
  ])('scheduled %s and expiry %s cannot, and the reason names the key', (scheduled, expiry, message) => {
    expect(findTimeFault(times(scheduled, expiry), NOW)?.message).toMatch(message);
  });

  test.each([
    ['2026-11-23T02:00:00Z', 'in 14 h'],
    ['2026-11-23T10:00:00+08:00', 'in 14 h'],
    ['2026-11-22T12:45:00Z', 'in 45 min'],
    ['2026-11-25T15:00:00Z', 'in 3 d 3 h'],
    ['2026-11-22T12:00:01Z', 'in less than a minute'],
    ['2026-11-22T12:00:30Z', 'in 1 min'],
    ['2026-11-22T11:00:00Z', 'now or past'],
  ])('%s is %s', (text, words) => {
    expect(formatAhead({ at: text }, NOW)).toBe(words);
    expect(findTimeFault(times(text, undefined), NOW) === undefined).toBe(words !== 'now or past');
  });
});
