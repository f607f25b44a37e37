import { describe, expect, it } from 'vitest';
import { escapeText } from '../../src/command/screen.js';
import { createLog, SecretKeeper, type Terminal } from '../../src/command/terminal.js';

describe('text for a terminal', () => {
  it('is left alone where it is harmless', () => {
    for (const text of ['Ann Müller', '你好 😀', 'a\\b', '']) expect(escapeText(text)).toBe(text);
  });

  it.each([
    ['\u001b[2J', '\\u{1b}[2J'],
    ['\u0007', '\\u{7}'],
    ['\u007f', '\\u{7f}'],
    ['\u009b31m', '\\u{9b}31m'],
    ['a\rb', 'a\\u{d}b'],
    ['a\tb', 'a\\u{9}b'],
    ['a\nb', 'a⏎b'],
    ['\u202eabc', '\\u{202e}abc'],
    ['\u2066x\u2069', '\\u{2066}x\\u{2069}'],
    ['\u200b', '\\u{200b}'],
    ['\ufeff', '\\u{feff}'],
    ['\u2028', '\\u{2028}'],
    ['\ud800', '\\u{d800}'],
    ['\u{e0041}', '\\u{e0041}'],
  ])('%j is shown as %s', (text, shown) => {
    expect(escapeText(text)).toBe(shown);
  });
});

describe('log', () => {
  function aLog(isStderrTerminal: boolean) {
    const lines: string[] = [];
    const terminal = { isStderrTerminal, writeStderr: (text: string) => lines.push(text) } as unknown as Terminal;
    const secrets = new SecretKeeper();
    secrets.keep('s3cret/+key');
    return { log: createLog(terminal, secrets), lines };
  }

  it('is plain lines on a terminal, JSON lines elsewhere', () => {
    const plain = aLog(true);
    plain.log.info('one');
    plain.log.warn('two');
    plain.log.error('three\u001b[0m');
    expect(plain.lines).toEqual(['one\n', '! two\n', '✗ three\\u{1b}[0m\n']);
    const json = aLog(false);
    json.log.warn('two');
    expect(JSON.parse(json.lines[0]!)).toMatchObject({ msg: 'two', level: 40 });
  });

  it.each([true, false])(
    'never says a secret, as it is, encoded for an address, or in base64 (terminal: %s)',
    (isTerminal) => {
      const { log, lines } = aLog(isTerminal);
      for (const form of [
        's3cret/+key',
        encodeURIComponent('s3cret/+key'),
        Buffer.from('s3cret/+key').toString('base64'),
      ]) {
        log.error(`refused: ${form}`);
        expect(lines.at(-1)).toContain('[secret]');
        expect(lines.at(-1)).not.toContain(form);
      }
    },
  );
});
