import type fc from 'fast-check';

const DEFAULT_SEED = 20_261_121;
/** `VOLLEY_HOSTILE_RUNS=50` gives fifty times as many runs, `VOLLEY_HOSTILE_SEED` other ones. */
const times = Number(process.env.VOLLEY_HOSTILE_RUNS ?? 1);
const seed = Number(process.env.VOLLEY_HOSTILE_SEED ?? DEFAULT_SEED);

/** So many runs of a property in CI, from one seed; a failure prints it, with the path to the smallest case. */
export function runs(numRuns: number): fc.Parameters<unknown> {
  return {
    numRuns: Math.ceil(numRuns * times),
    seed,
    interruptAfterTimeLimit: 10 * 60_000,
    markInterruptAsFailure: true,
  };
}
