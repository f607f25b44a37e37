import { firstSeedOf, readCommit } from './simulation/first-seed.js';

/** `VOLLEY_TESTS=all` does every case of the tests that otherwise do a part of them with each commit. */
export const ALL = process.env.VOLLEY_TESTS === 'all';

/** How far apart cases are that a test does, and the first of them, from 1: another one with every commit. */
export function stepsOf(step: number): { readonly first: number; readonly step: number } {
  if (ALL) return { first: 1, step: 1 };
  const turn = Math.floor(firstSeedOf(readCommit(import.meta.dirname)) / 1000);
  return { first: 1 + (turn % step), step };
}

/** One case in so many. */
export function oneIn<T>(count: number, cases: readonly T[]): T[] {
  const { first, step } = stepsOf(count);
  return cases.filter((_, index) => index % step === (first - 1) % step);
}

/** A sixth of so many random cases, which are other ones each time. */
export function runsOf(count: number): number {
  return ALL ? count : Math.ceil(count / 6);
}
