import { expect, test } from 'vitest';
import { listNonZero } from '../../src/domain/count-of.js';

test('counts that are 0 are left out', () => {
  expect(listNonZero({ rejected: 1200, skipped: 0, 'in doubt': 1 })).toEqual(['1,200 rejected', '1 in doubt']);
  expect(listNonZero({ skipped: 0 })).toEqual([]);
});
