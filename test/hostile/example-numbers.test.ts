import { getCountries, getExampleNumber } from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, test } from 'vitest';
import { normalizeNumber } from '../../src/normalize/number/number.js';
import { expectAccountOrRefusal, useWholeJobs } from './a-whole-job.js';

const runWhole = useWholeJobs();

const samples = getCountries().flatMap((country) => {
  const number = getExampleNumber(country, examples);
  return number === undefined ? [] : [{ country, number }];
});

describe("the library's own example of each country", () => {
  test('is read from every way in which it is written', () => {
    expect(samples.length).toBeGreaterThan(240);
    for (const { country, number } of samples) {
      const written = [number.number, number.formatInternational(), number.formatNational(), number.nationalNumber];
      for (const text of new Set(written)) {
        const read = normalizeNumber(text, country);
        // In some countries the number without its trunk prefix is another one, or none: then it is refused, never changed.
        if (read.ok || text !== number.nationalNumber)
          expect([text, read]).toMatchObject([text, { ok: true, e164: number.number }]);
      }
    }
  });

  test('is sent to, once for each number, with nothing in front of it or behind it', async () => {
    const rows = samples.map(({ country, number }) => `${number.formatNational()},${country}\n`);
    const { summary, ledger, ...ended } = await runWhole({
      files: { 'people.csv': `mobile;country\n${rows.join('').replaceAll(',', ';')}` },
      steps: [
        {
          kind: 'sms',
          input: { files: 'people.csv', countryColumn: 'country' },
          destination: 'mobile',
          template: { text: 'Hi' },
        },
      ],
    });
    expect(expectAccountOrRefusal({ summary, ledger, ...ended })).toBe('account');
    const sent = ledger.flatMap((entry) => (entry.area === 'sms' ? [entry.destination] : []));
    expect(sent.sort()).toEqual([...new Set(samples.map(({ number }) => number.number))].sort());
  });
});
