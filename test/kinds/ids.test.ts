import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatRowId, planIdOf, readRowId } from '../../src/kinds/ids.js';

it('the id of a row gives back its run, its step and its number', () => {
  const row = fc.record(
    {
      run: fc.string().map(planIdOf),
      step: fc.integer({ min: 1, max: 50 }),
      isPlanned: fc.boolean(),
      index: fc.nat(),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(row, (written) => {
      expect(readRowId(formatRowId(written))).toEqual(written);
    }),
  );
});

it.each([
  '',
  '?',
  'x',
  '0123456789ab-1',
  '0123456789ab-1-',
  '0123456789ab-0-1',
  '0123456789ab-1-01',
  'O123456789ab-1-1',
  '0123456789ab-1-r',
  ' 0123456789ab-1-1',
])('what is no id of a row names none: %j', (text) => expect(readRowId(text)).toBeUndefined());
