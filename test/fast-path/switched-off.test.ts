import { expect, test } from 'vitest';
import * as switches from '../../src/domain/fast-path.js';
import { readFast } from '../../src/normalize/number/number-fast.js';

/** Of the project `no-fast-path` alone (vitest.config.ts), which runs the tests of the planner a second time. */
test('the fast path is off, so that the planner is tested without it', () => {
  expect(Object.values(switches)).toEqual(Object.keys(switches).map(() => false));
  expect(readFast('+6591234567', undefined)).toBeUndefined();
});
