import { expect, test } from 'vitest';
import { RowEndTable } from '../../../src/journal/row-status/row-status-view.js';

test('accepted rows have one end, whatever code the service gave them', () => {
  const table = new RowEndTable();
  const accepted = { status: 'accepted', code: 'QUEUED', reason: '' } as const;
  expect(table.numberOf(accepted, false)).toBe(table.numberOf({ ...accepted, code: 'SENT' }, false));
  expect(table.endOf(table.numberOf(accepted, false))).toEqual({ status: 'accepted', code: '' });
});
