import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinColumns } from '../../src/plan/bind-columns.js';

const join = (...inputs: string[][]) => joinColumns(inputs);
const fold = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

describe('columns of several files', () => {
  it('are one column where they have the same name', () => {
    expect(join(['mobile', 'name'], ['name', 'mobile', 'town'])).toEqual({
      columns: ['mobile', 'name', 'town'],
      maps: [
        [0, 1],
        [1, 0, 2],
      ],
    });
  });

  it('are one column under the first name where only case and punctuation differ', () => {
    const expected = { columns: ['First Name', 'Mobile'], maps: [[0], [0, 1], [1]] };
    expect(join(['First Name'], ['first_name', 'Mobile'], ['MOBILE'])).toEqual(expected);
  });

  it('that differ within one file stay two', () => {
    const expected = { columns: ['first name', 'First-Name'], maps: [[0], [1, 0]] };
    expect(join(['first name'], ['First-Name', 'first name'])).toEqual(expected);
  });

  it('without a name keep their number', () => {
    expect(join(['a', '', ''], ['', 'a'])).toEqual({
      columns: ['a', '', ''],
      maps: [
        [0, 1, 2],
        [1, 0],
      ],
    });
  });

  it('each have a place of their own, under their own name or one that folds to it', () => {
    const name = fc.constantFrom('mobile', 'Mobile', 'MOBILE ', 'mo-bile', 'name', 'Na me', 'na_me', 'id', 'I.D', 'x');
    const header = fc.uniqueArray(name, { selector: (each) => each.trim(), minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.array(header, { minLength: 1, maxLength: 4 }), (inputs) => {
        const { columns, maps } = join(...inputs);
        for (const [file, names] of inputs.entries()) {
          const places = names.map((_, index) => maps[file]?.[index]);
          expect(new Set(places).size).toBe(names.length);
          expect(places.map((place) => fold(columns[place ?? -1] ?? '?'))).toEqual(names.map(fold));
        }
        expect(maps[0]).toEqual([...(inputs[0] ?? []).keys()]);
        expect(new Set(columns.map((each) => each.trim())).size).toBe(columns.length);
      }),
    );
  });
});
