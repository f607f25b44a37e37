import { describe, expect, test } from 'vitest';
import { BadDate, findBadDirective, findBadInputFormat, formatDate } from '../../src/template/dates-and-numbers.js';

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

  test.each([
    ['01.11.2026', 'dd.MM.yyyy', '01 Nov 2026 00:00'],
    [' 1.11.2026 ', 'd.M.yyyy', '01 Nov 2026 00:00'],
    ['11/1/2026', 'M/d/yyyy', '01 Nov 2026 00:00'],
    ['11/1/2026 6:30 PM', 'M/d/yyyy h:mm a', '01 Nov 2026 18:30'],
    ['11/1/2026 12:05 a.m.', 'M/d/yyyy h:mm a', '01 Nov 2026 00:05'],
    ['01.11.2026, 18:30:09', 'dd.MM.yyyy, HH:mm:ss', '01 Nov 2026 18:30'],
    ['20261101', 'yyyyMMdd', '01 Nov 2026 00:00'],
    ['(2026|11|01)', '(yyyy|MM|dd)', '01 Nov 2026 00:00'],
  ])('reads %s as %s', (value, input, written) => {
    expect(formatDate(value, '%d %b %Y %H:%M', input)).toBe(written);
  });

  test.each([
    ['2026-11-01', 'dd.MM.yyyy'],
    ['1.11.2026', 'dd.MM.yyyy'],
    ['31.11.2026', 'dd.MM.yyyy'],
    ['29.02.2027', 'dd.MM.yyyy'],
    ['13/1/2026', 'M/d/yyyy'],
    ['01x11x2026', 'dd.MM.yyyy'],
    ['01.11.2026 ', 'dd.MM.yyyy HH:mm'],
    ['01.11.2026 25:00', 'dd.MM.yyyy HH:mm'],
    ['1/1/2026 13:00 PM', 'M/d/yyyy h:mm a'],
    ['', 'dd.MM.yyyy'],
  ])('refuses %j that is to be written %s', (value, input) => {
    expect(() => formatDate(value, '%d', input)).toThrow(BadDate);
  });

  test.each([
    ['dd.MM.yy', 'contains yy'],
    ['DD.MM.YYYY', 'contains DD'],
    ['dd. MMM yyyy', 'contains MMM'],
    ['Asia/Singapore', 'contains A'],
    ['MM.yyyy', 'expected day, month and year once each'],
    ['dd.MM.yyyy d', 'once each'],
    ['d/M/yyyy h:mm', 'h only with a'],
    ['d/M/yyyy HH a', 'h only with a'],
    ['', 'once each'],
    [`dd.MM.yyyy${' '.repeat(60)}`, 'once each'],
  ])('refuses the format %j of an input, and says what is wrong with it', (input, what) => {
    expect(findBadInputFormat(input)).toContain(what);
    expect(() => formatDate('2026-11-01', '%d', input)).toThrow(BadDate);
  });

  test('refuses a directive that it does not have, by name', () => {
    expect(findBadDirective('%d %s')).toContain('%s');
    expect(findBadDirective('%d %')).toContain('contains %,');
    expect(findBadDirective('%-d %B')).toBeUndefined();
    expect(() => formatDate('2026-11-01', '%s')).toThrow(BadDate);
  });
});
