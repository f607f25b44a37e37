import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkText, countSegments, nameCharacter, replaceTypography } from '../../src/template/segments.js';
import { runsOf } from '../one-in.js';

// Both oracles are CommonJS without types.
const require = createRequire(import.meta.url);
const splitSms: { split(text: string): { characterSet: string; parts: unknown[] } } = require('split-sms');
const gsmUtils: { getCharCount(text: string): { encoding: string; msgCount: number } } =
  require('@trt2/gsm-charset-utils');

const BASIC = '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./09:;<=>?¡AZÄÖÑÜ§¿azäöñüà';
const EXTENDED = '\f^{}\\[~]|€';
const gsmCharacter = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...BASIC) },
  { weight: 2, arbitrary: fc.constantFrom(...EXTENDED) },
);
const anyCharacter = fc.oneof(
  { weight: 20, arbitrary: gsmCharacter },
  { weight: 3, arbitrary: fc.constantFrom('’', '中', 'ç', '`', '\t', 'é', '😀', '👩‍👩‍👧', '\u{10FFFF}', '\u00A0') },
);
const textOf = (character: fc.Arbitrary<string>) =>
  fc.array(character, { minLength: 1, maxLength: 700 }).map((characters) => characters.join(''));

describe('countSegments', () => {
  test('agrees with two other counters on GSM-7 texts, where an escape pair never straddles two parts', () => {
    fc.assert(
      fc.property(textOf(gsmCharacter), (text) => {
        const { encoding, segments } = countSegments(text, 'AUTO');
        expect(encoding).toBe('GSM7');
        expect(segments).toBe(splitSms.split(text).parts.length);
        expect(segments).toBe(gsmUtils.getCharCount(text).msgCount);
      }),
    );
  });

  test('agrees with two other counters on texts of every kind, where a surrogate pair never straddles two parts', () => {
    fc.assert(
      fc.property(textOf(anyCharacter), (text) => {
        const { encoding, segments } = countSegments(text, 'AUTO');
        const split = splitSms.split(text);
        expect(encoding).toBe(split.characterSet === 'GSM' ? 'GSM7' : 'UCS2');
        expect(segments).toBe(split.parts.length);
        expect(encoding).toBe(gsmUtils.getCharCount(text).encoding === 'GSM' ? 'GSM7' : 'UCS2');
        expect(segments).toBe(gsmUtils.getCharCount(text).msgCount);
      }),
    );
  });

  test('agrees with both counters for each of the 65,536 code units on its own', () => {
    for (let unit = 0; unit < 65_536; unit++) {
      // A surrogate alone is no character: the oracles take it for what they like, and checkText refuses it.
      if (unit >= 0xd800 && unit <= 0xdfff) continue;
      const text = String.fromCharCode(unit);
      const encoding = countSegments(text, 'AUTO').encoding;
      if (encoding !== (splitSms.split(text).characterSet === 'GSM' ? 'GSM7' : 'UCS2'))
        expect.fail(nameCharacter(unit));
      if (encoding !== (gsmUtils.getCharCount(text).encoding === 'GSM' ? 'GSM7' : 'UCS2')) {
        expect.fail(nameCharacter(unit));
      }
    }
  });

  test.each([
    ['a'.repeat(160), 'GSM7', 1, 160],
    ['a'.repeat(161), 'GSM7', 2, 161],
    ['a'.repeat(306), 'GSM7', 2, 306],
    ['a'.repeat(307), 'GSM7', 3, 307],
    ['€'.repeat(80), 'GSM7', 1, 160],
    ['€'.repeat(81), 'GSM7', 2, 162],
    // The escape would be septet 153 of the first part: the pair moves on, and pushes the last letter into a third part.
    [`${'a'.repeat(152)}€${'a'.repeat(152)}`, 'GSM7', 3, 306],
    ['中'.repeat(70), 'UCS2', 1, 70],
    ['中'.repeat(71), 'UCS2', 2, 71],
    ['中'.repeat(134), 'UCS2', 2, 134],
    ['中'.repeat(135), 'UCS2', 3, 135],
    [`${'中'.repeat(66)}😀${'中'.repeat(66)}`, 'UCS2', 3, 134],
  ] as const)('counts %j as %s in %i parts of %i units', (text, encoding, segments, units) => {
    expect(countSegments(text, 'AUTO')).toMatchObject({ encoding, segments, units });
  });

  test('counts a GSM-7 text as UCS-2 where UCS2 is asked for, and names no character for it', () => {
    const expected = { encoding: 'UCS2', segments: 2, units: 71, extraParts: 1, ucs2Characters: undefined };
    expect(countSegments('a'.repeat(71), 'UCS2')).toEqual(expected);
  });

  test('counts no parts for an empty text', () => {
    expect(countSegments('', 'AUTO').segments).toBe(0);
    expect(countSegments('', 'UCS2').segments).toBe(0);
  });

  test('lists the characters that force UCS-2, each once, in their order, and no more than people replace', () => {
    expect(countSegments('Don’t miss 中', 'AUTO').ucs2Characters).toBe('’中');
    expect(countSegments('Sale 😀!', 'AUTO').ucs2Characters).toBe('😀');
    expect(countSegments('20%\u00A0off', 'AUTO').ucs2Characters).toBe('\u00A0');
    expect(countSegments('– 🎉 – 🎉 –', 'AUTO').ucs2Characters).toBe('–🎉');
    expect(countSegments('一丁七万丈三上下不与丐丑专且世丘丙业', 'AUTO').ucs2Characters).toHaveLength(16);
  });

  test('shows a character that cannot be seen, or that turns the writing direction, by its code point alone', () => {
    expect(nameCharacter(0x202e)).toBe('U+202E');
    expect(nameCharacter(0xd800)).toBe('U+D800');
    expect(nameCharacter(0x1b)).toBe('U+001B');
  });
});

function codeOf(text: string, encoding: 'AUTO' | 'GSM7' | 'UCS2' = 'AUTO'): string {
  const check = checkText(text, encoding);
  return 'code' in check ? check.code : 'ok';
}

function reasonOf(text: string, encoding: 'AUTO' | 'GSM7' | 'UCS2' = 'AUTO'): string {
  const check = checkText(text, encoding);
  return 'code' in check ? check.reason : '';
}

describe('checkText', () => {
  test('gives the count of a text that can be sent', () => {
    expect(checkText('Hello', 'AUTO')).toEqual(countSegments('Hello', 'AUTO'));
    expect(checkText('Hello', 'AUTO')).toMatchObject({ encoding: 'GSM7', segments: 1, units: 5, extraParts: 0 });
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

describe('replacing typography', () => {
  test.each([
    ['It’s ‘you’', "It's 'you'", '‘’'],
    ['„So“ “so” «so» ‹so›', '"So" "so" "so" \'so\'', '«»“”„‹›'],
    ['20–30 — 5‑7 − 1', '20-30 - 5-7 - 1', '‑–—−'],
    ['Wait…', 'Wait...', '…'],
    ['10\u00a0€ a\u202fb\u2009c', '10 € a b c', '\u00a0\u2009\u202f'],
  ])('%j is %j', (text, plain, replaced) => {
    expect(replaceTypography(text)).toEqual({ text: plain, replaced });
  });

  test.each([['plain'], ['Ünder 10 € [a]'], [''], ['你好 – 5'], ['Olá ç – ok'], ['👩 “x”'], ['• one'], ['a\u200bb']])(
    '%j stays as it is: nothing is to be replaced, or GSM-7 is not enough',
    (text) => expect(replaceTypography(text)).toBeUndefined(),
  );

  test('replaces the 27 characters of its table, and no other', () => {
    const all = Array.from({ length: 0xffff }, (_, unit) => String.fromCharCode(unit));
    expect(all.filter((character) => replaceTypography(character) !== undefined)).toHaveLength(27);
  });

  test('makes only texts of GSM-7, of as few parts or fewer, and nothing of what it made', () => {
    const unit = fc.constantFrom('a', 'é', '€', '’', '“', '–', '…', '\u00a0', ' ', '漢', 'ç', '👩');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 300 }), (text) => {
        const made = replaceTypography(text);
        if (made === undefined) return;
        expect(countSegments(text, 'AUTO').encoding).toBe('UCS2');
        expect(countSegments(made.text, 'AUTO').encoding).toBe('GSM7');
        expect(replaceTypography(made.text)).toBeUndefined();
      }),
      { numRuns: runsOf(2000) },
    );
  });
});
