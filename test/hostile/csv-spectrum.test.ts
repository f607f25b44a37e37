import { promisify } from 'node:util';
import csvSpectrum from 'csv-spectrum';
import { describe, expect, test } from 'vitest';
import { aDirectory, aFile, anInput, readRefused, readWhole } from '../input/builders.js';

const directory = aDirectory();
const samples = await promisify(csvSpectrum)();

/** A quote within an unquoted field could be one that was forgotten: 37°36'37.8"N */
const REFUSED = new Set(['location_coordinates']);

describe('csv-spectrum', () => {
  test('has twelve files', () => {
    expect(samples).toHaveLength(12);
  });

  test.each(samples.filter(({ name }) => !REFUSED.has(name)))(
    '$name is read as its JSON says',
    async ({ csv, json }) => {
      const { columns, cells, faults } = await readWhole(aFile(directory, csv), anInput({ delimiter: ',' }));
      const rows = cells.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]])));
      expect(rows).toEqual(JSON.parse(json.toString()));
      expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
    },
  );

  test.each(samples.filter(({ name }) => REFUSED.has(name)))('$name is refused with its line', async ({ csv }) => {
    expect(await readRefused(aFile(directory, csv))).toEqual([
      'people.csv:2: in the row that begins on this line a quote stands inside field 2, which is not in quotes, expected the whole field in quotes',
    ]);
  });
});
