import { describe, expect, test } from 'vitest';
import { BadDate, findBadDirective, formatDate } from '../../src/template/date.js';

describe('formatDate', () => {
  test.each([
    ['2026-11-01', '%d %b %Y', '01 Nov 2026'],
    ['2026-11-01', '%-d %B', '1 November'],
    ['2026-11-01', '%A, %a %e', 'Sunday, Sun  1'],
    ['2026-11-01', '%^a', 'SUN'],
    ['2026-11-01T18:05', '%H:%M', '18:05'],
    ['2026-11-01 18:05:09', '%I:%M:%S %p %P', '06:05:09 PM pm'],
    ['2026-11-01T00:05:00Z', '%-l:%M %P', '12:05 am'],
    ['2026-11-01T09:05:00.123+08:00', '%k %l %-H', ' 9  9 9'],
    ['2024-02-29', '%F %T %R', '2024-02-29 00:00:00 00:00'],
    ['2026-11-01', '100%%, %y%m%d', '100%, 261101'],
    [' 2026-11-01 ', '%_m|%0e', '11|01'],
  ])('writes %s in "%s" as "%s"', (value, format, written) => {
    expect(formatDate(value, format)).toBe(written);
  });

  test('shows the clock time that is written, whatever the offset behind it', () => {
    const times = ['2026-11-01T23:30Z', '2026-11-01T23:30+08:00', '2026-11-01T23:30-0500', '2026-11-01 23:30'];
    expect(times.map((time) => formatDate(time, '%d %H:%M'))).toEqual(times.map(() => '01 23:30'));
  });

  test.each([
    'now',
    'today',
    '1/11/2026',
    'Nov 1, 2026',
    '20261101',
    '1793000000',
    '2026-02-30',
    '2026-13-01',
    '2026-11-01T25:00',
    '2026-11-01T10:60',
    '',
    'soon',
  ])('refuses %j, which would depend on the day, the place or a guess', (value) => {
    expect(() => formatDate(value, '%d')).toThrow(BadDate);
  });

  test('refuses a directive that it does not have, by name', () => {
    expect(findBadDirective('%d %s')).toContain('%s');
    expect(findBadDirective('%d %')).toContain('holds %,');
    expect(findBadDirective('%-d %B')).toBeUndefined();
    expect(() => formatDate('2026-11-01', '%s')).toThrow(BadDate);
  });
});
