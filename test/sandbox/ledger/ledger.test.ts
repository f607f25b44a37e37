import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildPage, expandPage } from '../../../src/sandbox/ledger/ledger.js';

const HEAD = { seq: 5, at: '2026-11-21T12:00:00.000Z', area: 'sms', request: 9 } as const;

test('page gives back every row as it was, after JSON too', () => {
  const cell = fc.oneof(fc.string(), fc.constant(null), fc.integer());
  const row = fc.record({ a: cell, b: fc.constantFrom('x', 'y'), c: fc.constant('same') });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1 }), (rows) => {
      const page = JSON.parse(JSON.stringify(buildPage(HEAD, rows)));
      const { seq, ...head } = HEAD;
      expect([...expandPage(page)]).toEqual(rows.map((fields, place) => ({ ...head, seq: seq + place, ...fields })));
    }),
  );
});

test('page writes what all rows have in common once', () => {
  const page = buildPage(HEAD, [
    { text: 'Hi', id: 1, country: null },
    { text: 'Hi', id: 2, country: null },
  ]);
  expect(page).toEqual({ ...HEAD, shared: { text: 'Hi', country: null }, columns: ['id'], rows: [[1], [2]] });
});
