import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinJsonRows, splitJsonRows } from '../../src/read-ahead/json-rows.js';

/** What a row would have to hold to be taken for two. */
const unit = fc.constantFrom('"', ']', '[', ',', '\\', 'a', '\n', '\ud800', '漢', '],"",[', '"]', '["');
const cell = fc.string({ unit, maxLength: 6 });

describe('rows of strings as one JSON text', () => {
  it('are split into what JSON makes of each, whatever they hold', () => {
    const rows = fc.array(fc.array(cell, { maxLength: 4 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(rows, (written) => {
        const json = splitJsonRows(joinJsonRows(written)).map((row) => `[${row}]`);
        expect(json).toEqual(written.map((row) => JSON.stringify(row)));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([[[['],"",[']]], [[['],"'], ['",[']]], [[[''], [''], ['']]], [[[], []]], [[['a"],"",["b']]]])(
    'are told apart where a row looks like the end of one: %j',
    (rows) => {
      expect(splitJsonRows(joinJsonRows(rows))).toEqual(rows.map((row) => JSON.stringify(row).slice(1, -1)));
    },
  );
});
