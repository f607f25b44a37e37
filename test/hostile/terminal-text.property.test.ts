import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeText } from '../../src/command/screen.js';
import { maskNumbers } from '../../src/normalize/mask.js';
import { createJsonLog, escapeJson } from '../../src/ports/log.js';
import { STEERING, steersTerminal } from './canaries.js';
import { runs } from './chance.js';
import { NAUGHTY } from './naughty-strings.js';

const aText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(...NAUGHTY),
  fc.string({ unit: fc.constantFrom(...STEERING, 'a', '\u034f', '\u3164', '\u{e0041}', '\u{100000}', '\ud800', '\n') }),
);

describe('whatever comes from a file or an answer', () => {
  test('steers no terminal as text, and takes no room unseen', () => {
    const property = fc.property(aText, (text) => {
      const shown = escapeText(text);
      expect(steersTerminal(shown)).toBe(false);
      expect(shown).not.toMatch(/[\n\u115f\u1160\u3164\uffa0]|\u034f|\u17b4|\u17b5/u);
    });
    fc.assert(property, runs(1000));
  });

  test('steers no terminal as JSON, and is the same value', () => {
    const property = fc.property(fc.jsonValue(), aText, (value, text) => {
      const written = escapeJson(JSON.stringify({ value, [text]: text }));
      expect(steersTerminal(written)).toBe(false);
      expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify({ value, [text]: text })));
    });
    fc.assert(property, runs(500));
  });

  test('steers no terminal as a line of the log, where it stays one line', () => {
    const written: string[] = [];
    const log = createJsonLog({ write: (line) => written.push(line) }, () => []);
    const property = fc.property(aText, (text) => {
      written.length = 0;
      log.warn(text, { [text]: text, file: text });
      const line = written.join('');
      expect(steersTerminal(line)).toBe(false);
      expect(line.match(/\n/g)).toHaveLength(1);
      expect(JSON.parse(line)).toMatchObject({ level: 40 });
    });
    fc.assert(property, runs(300));
  });
});

describe('numbers in a text', () => {
  test.each([
    ['+6591234567 is on the list', '+65******67 is on the list'],
    ['it is probably +6591234567.', 'it is probably +65******67.'],
    ['+65 9123-4567, +1 (212) 555.0123', '+65******67, +12*******23'],
    ['+12345678901234567890', '***'],
    ['++6591234567', '++65******67'],
  ])('%s: %s', (text, masked) => {
    expect(maskNumbers(text)).toBe(masked);
  });

  test.each(['5 of 1073741824 bytes', '2026-11-21T12:00:00+08:00', '1e+21', '+123456', 'people.csv:12:3', 'a+1 b'])(
    '%s has none',
    (text) => {
      expect(maskNumbers(text)).toBe(text);
    },
  );
});
