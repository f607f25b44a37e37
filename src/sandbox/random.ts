/** Numbers from 0 up to, not including, 1. */
export type Random = () => number;

/** Draws the same numbers for the same seed and stream (mulberry32); different streams of a seed are independent. */
export function createRandom(seed: number, stream = 0): Random {
  let state = mix(mix(seed | 0) ^ (stream | 0));
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Puts items in another order: never in the given one when there are two items or more. */
export function shuffle<T>(items: readonly T[], random: Random): T[] {
  const shuffled = [...items];
  // Sattolo's variant: one cycle through all places, so that no item stays where it was.
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(random() * last);
    const held = shuffled[last] as T;
    shuffled[last] = shuffled[other] as T;
    shuffled[other] = held;
  }
  return shuffled;
}

/** Draws places: true at `count` of `total`. */
export function choosePlaces(count: number, total: number, random: Random): boolean[] {
  let wanted = Math.min(count, total);
  return Array.from({ length: total }, (_, place) => {
    const isChosen = random() * (total - place) < wanted;
    if (isChosen) wanted--;
    return isChosen;
  });
}

function mix(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x45d9f3b);
  bits = Math.imul(bits ^ (bits >>> 16), 0x45d9f3b);
  return bits ^ (bits >>> 16);
}
