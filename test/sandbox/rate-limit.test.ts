import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRateCounter } from '../../src/sandbox/admission.js';

test('rate counter takes exactly the limit in any sliding second', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.integer({ min: 0, max: 700 })), (limit, gaps) => {
      const take = createRateCounter(limit);
      const taken: number[] = [];
      let now = 0;
      for (const gap of gaps) {
        now += gap;
        const inTheSecondBefore = taken.filter((time) => now - time < 1000).length;
        const isTaken = take('a', now);
        expect(isTaken).toBe(inTheSecondBefore < limit);
        if (isTaken) taken.push(now);
      }
    }),
  );
});
