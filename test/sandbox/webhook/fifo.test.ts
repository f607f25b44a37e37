import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Fifo } from '../../../src/sandbox/webhook/fifo.js';

test('fifo gives back what it took, in the same order, however taking and giving alternate', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean()), (steps) => {
      const fifo = new Fifo<number>();
      const model: number[] = [];
      for (const [place, isPush] of steps.entries()) {
        if (isPush) {
          fifo.push(place);
          model.push(place);
        } else expect(fifo.shift()).toBe(model.shift());
      }
    }),
  );
});
