/**
 * A source of chance that gives the same numbers for the same seed on every machine (mulberry32).
 *
 * @typedef {object} Random
 * @property {(bound: number) => number} int  an integer from 0 to bound - 1
 * @property {<T>(list: readonly T[]) => T} pick
 * @property {(share: number) => boolean} chance  true in that share of the calls
 * @property {(length: number) => string} digits
 * @property {<T>(list: readonly T[]) => T[]} shuffle  a new list
 */

/**
 * @param {number} seed
 * @returns {Random}
 */
export function createRandom(seed) {
  let state = seed >>> 0;

  function next() {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  const int = (bound) => Math.floor(next() * bound);
  return {
    int,
    pick: (list) => list[int(list.length)],
    chance: (share) => next() < share,
    digits: (length) => Array.from({ length }, () => int(10)).join(''),
    shuffle: (list) => {
      const shuffled = [...list];
      for (let last = shuffled.length - 1; last > 0; last--) {
        const other = int(last + 1);
        [shuffled[last], shuffled[other]] = [shuffled[other], shuffled[last]];
      }
      return shuffled;
    },
  };
}
