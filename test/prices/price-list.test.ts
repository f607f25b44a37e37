import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PriceList, PriceListParser, type PriceRow } from '../../src/prices/price-list.js';

function aPriceRow(changes: Partial<PriceRow>): PriceRow {
  return { line: 2, country: undefined, prefix: undefined, sms: 1n, contact: undefined, ...changes };
}

describe('PriceList', () => {
  it('finds the longest prefix before the country, and of equally long ones that of the country', () => {
    const rows = {
      india: aPriceRow({ country: 'IN' }),
      zone: aPriceRow({ prefix: '91' }),
      jio: aPriceRow({ prefix: '9162' }),
      canada: aPriceRow({ prefix: '1', country: 'CA' }),
      zone1: aPriceRow({ prefix: '1' }),
    };
    const list = new PriceList(Object.values(rows));
    expect(list.find('IN', 916212345678)).toBe(rows.jio);
    expect(list.find('IN', 919912345678)).toBe(rows.zone);
    expect(list.find('CA', 16135550123)).toBe(rows.canada);
    expect(list.find('US', 12025550123)).toBe(rows.zone1);
    expect(list.find('IN', undefined)).toBe(rows.india);
    expect(list.find('SG', 6591234567)).toBeUndefined();
  });

  it('finds what a search through all prefixes as text finds', () => {
    const digits = fc.stringMatching(/^[1-4][0-3]{0,5}$/);
    const numbers = fc.stringMatching(/^[1-4][0-3]{6,14}$/);
    fc.assert(
      fc.property(fc.uniqueArray(digits, { maxLength: 12 }), numbers, (prefixes, number) => {
        const list = new PriceList(prefixes.map((prefix) => aPriceRow({ prefix })));
        const fitting = prefixes.filter((prefix) => number.startsWith(prefix));
        const longest = fitting.sort((one, other) => other.length - one.length)[0];
        expect(list.find('SG', Number(number))?.prefix).toBe(longest);
      }),
    );
  });
});

/** Lines of a list whose fields `|` separates, the header first. */
function parse(lines: readonly string[], { isCommaDecimal = false } = {}): PriceListParser {
  const [header = '', ...rows] = lines;
  const parser = new PriceListParser(header.split('|'), { shown: 'prices.csv', isCommaDecimal });
  for (const [at, row] of rows.entries()) parser.add(row.split('|'), at + 2);
  return parser;
}

function problemsOf(lines: readonly string[]): string[] {
  return parse(lines).problems.map(({ where, message }) => `${where}: ${message}`);
}

describe('a price list', () => {
  it('has countries as codes or names, prefixes with or without +, and other columns, in any case and order', () => {
    const { rows, problems } = parse([
      'Operator|SMS|Country|PREFIX|Contact',
      'all|0.042|sg||0.01',
      'all|0.05|Germany||',
      'Jio|0.002||+91 62|',
      'all|0.0075|US|1|',
    ]);
    expect(problems).toEqual([]);
    expect(rows).toEqual([
      { line: 2, country: 'SG', prefix: undefined, sms: 42_000_000n, contact: 10_000_000n },
      { line: 3, country: 'DE', prefix: undefined, sms: 50_000_000n, contact: undefined },
      { line: 4, country: undefined, prefix: '9162', sms: 2_000_000n, contact: undefined },
      { line: 5, country: 'US', prefix: '1', sms: 7_500_000n, contact: undefined },
    ]);
  });

  it('has German names of columns as well', () => {
    const { rows, problems } = parse(['Land|Vorwahl|Preis|Kontakt', 'Österreich|+43|0,075|0,01'], {
      isCommaDecimal: true,
    });
    expect(problems).toEqual([]);
    expect(rows).toEqual([{ line: 2, country: 'AT', prefix: '43', sms: 75_000_000n, contact: 10_000_000n }]);
  });

  it('has decimal commas where the caller says that they are', () => {
    expect(parse(['country|sms', 'DE|0,075'], { isCommaDecimal: true }).rows).toMatchObject([{ sms: 75_000_000n }]);
  });

  it.each([
    ['XX|||0.05|', '"XX" is not a country, expected a name or a two-letter code such as SG'],
    ['|065||0.05|', 'the prefix does not begin a number, expected calling code and digits, such as +65'],
    ['|6.5E+1||0.05|', 'the prefix does not begin a number, expected calling code and digits, such as +65'],
    ['|+999||0.05|', 'no country has numbers that begin with the prefix'],
    ['SG|+60||0.05|', 'numbers of SG begin with +65, not with the prefix +60'],
    ['|||0.05|', 'the row has no country and no prefix, expected one of them'],
    ['SG||||', 'the row has no price, expected one in sms'],
    ['SG|||-0.05|', 'sms is negative, expected zero or more'],
    ['SG|||0.1234567891|', 'sms has 10 decimals, expected at most 9'],
    ['SG|||0,05|', 'sms has a comma, which may separate decimals or thousands, expected a point: 0.05'],
    ['SG|||cheap|', 'sms is no decimal number, expected digits and a point, such as 0.05'],
    ['SG|||0.05|-1', 'contact is negative, expected zero or more'],
    ['MY|||0.05|', 'the row is for the same numbers as line 2, expected one price for them'],
  ])('refuses the row %s', (row, message) => {
    expect(problemsOf(['country|prefix|x|sms|contact', 'MY|||0.01|', row])).toEqual([`prices.csv:3: ${message}`]);
  });

  it('reports the faults of all rows at once, and counts those beyond fifty', () => {
    const problems = problemsOf(['country|sms', ...Array.from({ length: 60 }, () => 'Nowhere|-1')]);
    expect(problems).toHaveLength(51);
    expect(problems[1]).toBe('prices.csv:2: sms is negative, expected zero or more');
    expect(problems.at(-1)).toBe('prices.csv: and 70 more faults');
  });

  it('says once which columns a list has, where it has none of them', () => {
    const { problems } = parse(['a|b']);
    expect(problems.map(({ hint }) => hint)).toEqual([expect.stringContaining('A price list has'), undefined]);
  });

  it.each([
    [['pays', 'sms'], "no column matches 'country'; columns: pays, sms"],
    [['country', 'cost'], "no column matches 'sms'; columns: country, cost"],
    [['country', 'land', 'sms'], 'several columns are named country or land, expected one'],
    [['land', 'preis', 'price'], 'several columns are named sms or preis or price, expected one'],
    [['land', 'vorwahl (1)', 'vorwahl (2)', 'preis'], 'several columns are named vorwahl, expected one'],
    [['country', 'prefix (1)', 'prefix (2)', 'sms'], 'several columns are named prefix, expected one'],
  ])('refuses the columns %j', (columns, message) => {
    expect(problemsOf([columns.join('|')])).toEqual([`prices.csv:1: ${message}`]);
  });
});
