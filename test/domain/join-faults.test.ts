import { expect, it } from 'vitest';
import { joinFaults, type Rejection } from '../../src/domain/row.js';

const aFault = (field: string, code: Rejection['code'], reason: string): Rejection => ({
  stage: 'normalize',
  field,
  code,
  reason,
});
const number = aFault('mobile', 'too-short', 'The number has too few digits.');
const text = { ...aFault('name', 'missing-value', 'Cannot fill {{ name }}'), stage: 'render' } as const;

it('leaves a single fault as it is, and one that stands twice', () => {
  expect(joinFaults(number, [])).toBe(number);
  expect(joinFaults(number, [{ ...number, reason: 'The same in other words.' }])).toBe(number);
});

it('keeps stage, field and code of the first, and lists every fault with its field as a sentence', () => {
  expect(joinFaults(number, [text, aFault('', 'no-address', 'There is none.')])).toEqual({
    ...number,
    reason: '3 faults: (1) mobile: The number has too few digits. (2) name: Cannot fill {{ name }}. (3) There is none.',
  });
});

it('tells faults of the whole row apart by their reasons', () => {
  const [one, other] = [aFault('', 'bad-date', 'Of {{ a }}.'), aFault('', 'bad-date', 'Of {{ b }}.')];
  expect(joinFaults(one, [one, other]).reason).toBe('2 faults: (1) Of {{ a }}. (2) Of {{ b }}.');
});
