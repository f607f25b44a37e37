import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fileIdOf, formatRowId, readRowId } from '../../src/kinds/ids.js';

it('the id of a row gives back its file and its number', () => {
  const file = fc.record({
    digest: fc.string(),
    kind: fc.constantFrom('sms', 'verification.start'),
    place: fc.nat(3),
    occurrence: fc.constantFrom('', 'again-2', '2026-11-21'),
  });
  const row = fc.record({ file: file.map(fileIdOf), row: fc.integer({ min: 1 }) }, { noNullPrototype: true });
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
  'test-1',
  '0123456789ab-1-1',
  '0123456789abcdefghjk',
  '0123456789abcdefghjk-',
  '0123456789abcdefghjk-0',
  '0123456789abcdefghjk-01',
  '0123456789abcdefghjk.again-0-1',
  '0123456789abcdefghjk.-1',
  'O123456789abcdefghjk-1',
  ' 0123456789abcdefghjk-1',
])('what is no id of a row names none: %j', (text) => expect(readRowId(text)).toBeUndefined());
