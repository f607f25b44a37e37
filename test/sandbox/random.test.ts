import fc from 'fast-check';
import { expect, test } from 'vitest';
import { choosePlaces, createRandom, shuffle } from '../../src/sandbox/random.js';

test('random gives the same numbers for a seed and stream, others for another', () => {
  const draw = (seed: number, stream: number) => Array.from({ length: 5 }, createRandom(seed, stream));
  expect(draw(1, 2)).toEqual(draw(1, 2));
  expect(draw(1, 2)).not.toEqual(draw(1, 3));
  expect(draw(1, 2)).not.toEqual(draw(2, 2));
});

test('random is below a rate about as often as the rate says, over streams of one seed', () => {
  const hits = Array.from({ length: 10_000 }, (_, stream) => createRandom(7, stream)()).filter((one) => one < 0.2);
  expect(hits.length).toBeGreaterThan(1800);
  expect(hits.length).toBeLessThan(2200);
});

test('shuffle keeps every item and leaves none of two or more in its place', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer()), fc.integer(), (items, seed) => {
      const shuffled = shuffle(items, createRandom(seed));
      expect([...shuffled].sort()).toEqual([...items].sort());
      if (items.length > 1) expect(shuffled.some((item, place) => item === items[place])).toBe(false);
    }),
  );
});

test('choosePlaces chooses exactly as many as asked for', () => {
  fc.assert(
    fc.property(fc.nat(50), fc.nat(50), fc.integer(), (count, total, seed) => {
      const chosen = choosePlaces(count, total, createRandom(seed)).filter(Boolean);
      expect(chosen).toHaveLength(Math.min(count, total));
    }),
  );
});
