import { expect, test } from 'vitest';
import { guessNumber } from '../../src/guess/guess-number.js';
import { aColumn, aSample, beside, guessOf, local, plus } from './a-sample.js';

test('the column with the most valid numbers is the one that is sent to', () => {
  const lines = beside(
    aColumn('City', 40, () => 'Singapore'),
    aColumn('Kontakt', 40, plus),
    aColumn('Work phone', 40, (index) => (index < 20 ? plus(500 + index) : '')),
  );

  expect(guessOf(lines).number).toMatchObject({ column: 'Kontakt', valid: 40, withPlus: 40, country: undefined });
});

test('of valid numbers those are counted that are of no mobile phone', () => {
  const lines = aColumn(
    'Telefon',
    4,
    (index) => ['+4940746331', '040 7463319', '0171 2345678', '+6591234567'][index] ?? '',
  );

  expect(guessOf(lines, { country: 'DE' }).number).toMatchObject({ valid: 4, notMobile: 2 });
});

test('of two columns within 20 points none is chosen', () => {
  const lines = beside(
    aColumn('Phone', 40, plus),
    aColumn('Mobile', 40, (index) => (index < 33 ? plus(500 + index) : '')),
  );
  const search = guessNumber(aSample(lines), { destination: undefined, country: undefined });

  expect(search).toMatchObject({ kind: 'several', columns: [{ column: 'Phone' }, { column: 'Mobile' }] });
  expect(guessOf(lines, { destination: 'mobile' }).number).toMatchObject({ column: 'Mobile', valid: 33 });
});

test.each(['Customer ID', 'Fax', 'Order number', 'shippingZip', 'PLZ'])(
  '%s is no column of numbers to write to',
  (name) => {
    const lines = beside(
      aColumn(name, 30, plus),
      aColumn('Mobile', 30, (index) => (index < 28 ? plus(index) : '')),
    );

    expect(guessOf(lines).number?.column).toBe('Mobile');
  },
);

test('numbers without + need no default country where a column says it', () => {
  const lines = beside(
    aColumn('Handy', 30, local),
    aColumn('Land', 30, (index) => (index % 2 ? 'SG' : 'Singapur')),
  );

  expect(guessOf(lines).number).toMatchObject({ valid: 30, withPlus: 0, countryColumn: 'Land', country: undefined });
});

test.each([
  // A mobile phone is read alike with and without the calling code of its country, a number in Stuttgart is not.
  ['of one country in which they are read alike', (index: number) => `659100${1000 + index}`, 'SG', { SG: 30 }],
  ['of one that reads them as others', (index: number) => `4971112${1000 + index}`, undefined, { DE: 30 }],
  [
    'of two',
    (index: number) => `${index % 2 ? '4366412345' : '4474001234'}${10 + index}`,
    undefined,
    { GB: 15, AT: 15 },
  ],
])('numbers that lost their + are taken for no country but their own: %s', (_, cell, country, countries) => {
  const { number } = guessOf(aColumn('Mobile', 30, cell));

  expect(number).toMatchObject({ column: 'Mobile', valid: country === undefined ? 0 : 30, country });
  expect(Object.fromEntries(number!.tried!.lostPlus.map((each) => [each.country, each.valid]))).toEqual(countries);
});

test('a column of states is not taken for countries', () => {
  const lines = beside(
    aColumn('Phone', 30, local),
    aColumn('State', 30, () => 'DE'),
  );

  expect(guessOf(lines).number?.countryColumn).toBeUndefined();
});

test('where numbers without + would be valid in several countries, none is assumed', () => {
  const { number } = guessOf(aColumn('Phone', 60, local));

  expect(number).toMatchObject({ column: 'Phone', valid: 0, country: undefined, tried: { found: undefined } });
  expect(number?.tried?.best.length).toBeGreaterThan(1);
});

test('a country in which 90 % are valid, 20 points before the next, is the default', () => {
  const lines = aColumn('Telefon', 60, (index) => `030 1234500${10 + index}`);

  expect(guessOf(lines).number).toMatchObject({ country: 'DE', valid: 60 });
});

test('numbers without + are of the country of those with +, if 90 % say so', () => {
  const lines = aColumn('Mobile', 60, (index) => (index % 2 ? plus(index) : local(index)));

  expect(guessOf(lines).number).toMatchObject({ valid: 60, withPlus: 30, country: 'SG' });
});

test('a country that a person names is taken', () => {
  const expected = { valid: 30, country: 'SG', tried: undefined };
  expect(guessOf(aColumn('Phone', 30, local), { country: 'SG' }).number).toMatchObject(expected);
});

test('an object of NDJSON is not taken for a name: no text greets by it, and no contact has it', () => {
  const object = aColumn('name', 10, (index) => JSON.stringify({ first: `P${index}` }));
  expect(guessOf(beside(object, aColumn('phone', 10, plus)))).toMatchObject({
    ...{ greeting: undefined, fields: { msisdn: 'phone' } },
  });
  const text = aColumn('Full Name', 10, (index) => (index < 2 ? `[P${index}]` : `P${index}`));
  const guess = guessOf(beside(object, text, aColumn('phone', 10, plus)));
  expect(guess.greeting).toEqual({ column: 'Full Name', filled: 10 });
  expect(guess.fields).toEqual({ firstName: 'Full Name', msisdn: 'phone' });
});
