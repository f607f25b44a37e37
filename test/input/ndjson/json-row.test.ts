import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonRow } from '../../../src/input/ndjson/json-row.js';
import { runsOf } from '../../one-in.js';

function faultOf(text: string): string | undefined {
  const row = parseJsonRow(text);
  return row.ok ? undefined : row.fault.code;
}

describe('parseJsonRow', () => {
  it.each([
    ['', 'bad-json'],
    ['{"a":1', 'bad-json'],
    ["{'a':1}", 'bad-json'],
    ['{"a":1}{"b":2}', 'bad-json'],
    ['{"a":NaN}', 'bad-json'],
    ['{"a":Infinity}', 'bad-json'],
    ['{"a":01}', 'bad-json'],
    ['{"a":"\t"}', 'bad-json'],
    ['[1]', 'not-an-object'],
    ['1', 'not-an-object'],
    ['"a"', 'not-an-object'],
    ['null', 'not-an-object'],
    ['{"a":1,"\\u0061":2}', 'duplicate-key'],
    ['{"a":[{"b":1},{"b":1,"c":{"d":1,"d":1}}]}', 'duplicate-key'],
    ['{"a":9007199254740993}', 'number-loses-digits'],
    ['{"a":0.1234567890123456789}', 'number-loses-digits'],
    ['{"a":1e400}', 'number-loses-digits'],
    ['{"a":1e-400}', 'number-loses-digits'],
    ['{"a":[{"b":9007199254740993}]}', 'number-loses-digits'],
    ['{"a":"\\ud83d"}', 'lone-surrogate'],
    ['{"a":"\\ude00\\ud83d"}', 'lone-surrogate'],
    ['{"\\ud83d":1}', 'lone-surrogate'],
    ['{"a":[["\\uDC00"]]}', 'lone-surrogate'],
    ['{"a":"x\\u0000y"}', 'nul'],
    ['{"a":[{"b":"\\u0000"}]}', 'nul'],
    ['{"a\\u0000":1}', 'nul'],
    ['{"__proto__":1}', 'forbidden-key'],
    ['{"\\u005f_proto__":1}', 'forbidden-key'],
    ['{"constructor":1}', 'forbidden-key'],
    ['{"a":{"prototype":1}}', 'forbidden-key'],
    [`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'bad-json'],
    [`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 'bad-json'],
  ])('%.60s is a fault: %s', (text, code) => {
    expect(faultOf(text)).toBe(code);
  });

  it.each([
    '{}',
    ' { "a" : 1 , "b" : [ ] } ',
    '{"a":"{\\"a\\":1,\\"a\\":2}"}',
    '{"a":"\\"","b":"\\\\","c":"\\\\\\""}',
    '{"a":":","b":"12345678901234567890"}',
    '{"a":"\\ud83d\\ude00","b":"\\\\ud83d"}',
    '{"a":"__proto__"}',
  ])('%s is a row', (text) => {
    expect(parseJsonRow(text)).toEqual({ ok: true, values: JSON.parse(text) });
  });

  it.each([
    [
      '{"a":1.50,"b":0.1,"c":-0,"d":0.000,"e":1E+2,"f":0e9,"g":"1.0","h":7,"i":null}',
      { a: '1.50', b: '0.1', c: '-0', d: '0.000', e: '1E+2', f: '0e9', g: '1.0', h: '7', i: null },
    ],
    ['{ "a\\u0062" : 1.0 , "b" : [ 2.0 , "x \\u00e9\\/" , { "c" : 1 } ] }', { ab: '1.0', b: '[2.0,"x é/",{"c":1}]' }],
    ['{"a":{"b":",}","c":-0},"d":true,"e":1.0}', { a: '{"b":",}","c":-0}', d: true, e: '1.0' }],
  ])('%s keeps the writing of its numbers', (text, values) => {
    expect(parseJsonRow(text)).toEqual({ ok: true, values });
  });

  it('keeps the writing of every number, wherever it stands, and changes nothing else', () => {
    const aNumber = fc.stringMatching(/^-?(0|[1-9][0-9]{0,3})(\.[0-9]{1,3})?([eE][+-]?[0-9])?$/);
    const aValue = fc.oneof(
      aNumber,
      fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
      fc.array(aNumber).map((numbers) => `[${numbers.join(',')}]`),
      fc
        .tuple(fc.string({ unit: 'grapheme' }), aNumber)
        .map(([key, number]) => `{${JSON.stringify(`k${key}`)}:${number}}`),
    );
    const aRow = fc.array(aValue).map((parts) => parts.map((part, index) => [`"c${index}"`, part] as const));
    const property = fc.property(aRow, fc.constantFrom('', ' ', '\t'), (parts, space) => {
      const text = `{${parts.map(([key, part]) => `${space}${key}${space}:${space}${part}${space}`).join(',')}}`;
      const row = parseJsonRow(text);
      const cells = row.ok
        ? Object.values(row.values).map((cell) => (typeof cell === 'object' ? JSON.stringify(cell) : cell))
        : [];
      expect(cells.map(String)).toEqual(parts.map(([, part]) => (part.startsWith('"') ? JSON.parse(part) : part)));
    });
    fc.assert(property, { numRuns: runsOf(1000) });
  });

  it('names the key that stands twice', () => {
    const row = parseJsonRow('{"a":{"x":1,"y":2,"y":3}}');
    const reason = 'the key "y" occurs twice, expected once';
    expect(!row.ok && row.fault).toEqual({ stage: 'read', field: 'y', code: 'duplicate-key', reason });
  });

  it('says where JSON goes wrong without repeating the line', () => {
    const row = parseJsonRow('{"a":"+6591234567" "b":1}');
    expect(!row.ok && row.fault.reason).toBe('the line is not valid JSON (from character 20 on), expected one object');
  });

  it('reads every object that JSON.stringify writes, with or without spaces', () => {
    const anObject = fc.dictionary(
      fc.string({ unit: 'grapheme' }).map((name) => `k${name}`),
      fc.jsonValue({ stringUnit: 'grapheme', maxDepth: 4 }),
    );
    const property = fc.property(anObject, fc.constantFrom(undefined, ' ', '\t'), (value, space) => {
      const text = JSON.stringify(value, undefined, space);
      fc.pre(!/"(__proto__|constructor|prototype)"/.test(text));
      expect(parseJsonRow(text)).toEqual({ ok: true, values: JSON.parse(text) });
    });
    fc.assert(property);
  });

  it('takes a whole number just when every digit of it is kept', () => {
    // As a number is written: 10n ** 21n + 10n ** 5n is, though the number itself is another one.
    const read = (number: bigint) => {
      const [digits = '', exponent = '0'] = String(Number(number)).split('e+');
      const [whole = '', fraction = ''] = digits.split('.');
      return BigInt(whole + fraction.padEnd(Number(exponent), '0'));
    };
    const rounded = fc.tuple(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), fc.nat({ max: 4 }));
    const aNumber = fc.oneof(
      fc.bigInt({ min: -(10n ** 22n), max: 10n ** 22n }),
      rounded.map(([digits, zeros]) => digits * 10n ** BigInt(zeros)),
    );
    const property = fc.property(aNumber, (number) => {
      expect(faultOf(`{"a":${number}}`)).toBe(read(number) === number ? undefined : 'number-loses-digits');
    });
    fc.assert(property);
  });

  it('finds a key that is written twice anywhere', () => {
    const aKey = fc.constantFrom('a', 'b', 'c"', 'd\\', 'é');
    const property = fc.property(fc.array(fc.tuple(aKey, fc.boolean())), (entries) => {
      const fields = entries.map(
        ([key, isNested]) => `${JSON.stringify(key)}:${isNested ? '{"a":[{"b":":"}]}' : '"x"'}`,
      );
      const isTwice = new Set(entries.map(([key]) => key)).size < entries.length;
      expect(faultOf(`{"in":{${fields.join(' , ')}}}`)).toBe(isTwice ? 'duplicate-key' : undefined);
    });
    fc.assert(property);
  });

  it('has an answer for every text', () => {
    const aText = fc.string({ unit: fc.constantFrom(...'{}[]":,\\-1e.0u \t', 'd83d', '"a":', 'null') });
    const property = fc.property(aText, (text) => {
      const isObject = readsAsObject(text);
      if (!isObject) expect(parseJsonRow(text).ok).toBe(false);
    });
    fc.assert(property, { numRuns: runsOf(2000) });
  });
});

function readsAsObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
