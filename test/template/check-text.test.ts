import { describe, expect, test } from 'vitest';
import { checkText } from '../../src/template/segments.js';

function codeOf(text: string, encoding: 'AUTO' | 'GSM7' | 'UCS2' = 'AUTO'): string {
  const check = checkText(text, encoding);
  return check.ok ? 'ok' : check.rejection.code;
}

function reasonOf(text: string, encoding: 'AUTO' | 'GSM7' | 'UCS2' = 'AUTO'): string {
  const check = checkText(text, encoding);
  return check.ok ? '' : check.rejection.reason;
}

describe('checkText', () => {
  test('gives the count of a text that can be sent', () => {
    expect(checkText('Hello', 'AUTO')).toEqual({
      ok: true,
      count: { encoding: 'GSM7', segments: 1, units: 5, extraParts: 0, ucs2Characters: undefined },
    });
  });

  test.each(['', ' ', '\n\t', '\u00A0'])('refuses %j as empty', (text) => {
    expect(codeOf(text)).toBe('empty-text');
  });

  test('takes ten parts and refuses eleven, in both encodings', () => {
    expect(codeOf('a'.repeat(1530))).toBe('ok');
    expect(codeOf('a'.repeat(1531))).toBe('text-too-long');
    expect(codeOf('中'.repeat(670))).toBe('ok');
    expect(codeOf('中'.repeat(671))).toBe('text-too-long');
    expect(codeOf('a'.repeat(671), 'UCS2')).toBe('text-too-long');
  });

  test('says how many parts a long text takes, and which character made it so', () => {
    expect(reasonOf(`${'a'.repeat(700)}’`)).toContain('11 parts in UCS-2 because of ’ (U+2019');
    expect(reasonOf('a'.repeat(1531))).toContain('11 parts in GSM-7, expected at most 10 parts');
  });

  test('refuses a character outside GSM-7 where the job asks for GSM7, and names it', () => {
    expect(codeOf('Café €5', 'GSM7')).toBe('ok');
    expect(codeOf('Don’t', 'GSM7')).toBe('not-gsm7');
    expect(reasonOf('Don’t', 'GSM7')).toContain('’ (U+2019 RIGHT SINGLE QUOTATION MARK)');
    expect(codeOf('Don’t', 'UCS2')).toBe('ok');
  });

  test.each(['a\uD83D', '\uDE00b', 'ok 😀 \uD83D!'])(
    'refuses half a surrogate pair in %j, whatever the encoding',
    (text) => {
      expect(codeOf(text)).toBe('lone-surrogate');
      expect(codeOf(text, 'GSM7')).toBe('lone-surrogate');
      expect(codeOf(text, 'UCS2')).toBe('lone-surrogate');
    },
  );

  test('never quotes the text', () => {
    for (const reason of [reasonOf('Secret’', 'GSM7'), reasonOf('Secret\uD83D'), reasonOf('Secret '.repeat(300))]) {
      expect(reason).not.toBe('');
      expect(reason).not.toContain('Secret');
    }
  });
});
