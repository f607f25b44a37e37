/** How many requests in any second; the first two are numbers of the service's documentation, the third is the contract's. */
export interface RateLimits {
  readonly perSubAccount: number;
  readonly perAddress: number;
  /** Workplace chat. */
  readonly perChatKey: number;
}

export const DOCUMENTED_RATE_LIMITS: RateLimits = { perSubAccount: 1800, perAddress: 3000, perChatKey: 5 };
const NONE = Number.POSITIVE_INFINITY;
export const NO_RATE_LIMITS: RateLimits = { perSubAccount: NONE, perAddress: NONE, perChatKey: NONE };

/** Takes a request of that name at `atMs` (monotonic); false, and not counted, when the limit was taken in the second before. */
export type RateCounter = (name: string, atMs: number) => boolean;

/** Counts exactly in every sliding second: it remembers the time of the last `limit` requests of each name. */
export function createRateCounter(limit: number): RateCounter {
  const takenOf = new Map<string, { times: Float64Array; next: number }>();
  return (name, atMs) => {
    if (limit === NONE) return true;
    const taken = takenOf.get(name) ?? { times: new Float64Array(limit).fill(-NONE), next: 0 };
    takenOf.set(name, taken);
    const oldest = taken.times[taken.next] ?? NONE;
    if (atMs - oldest < 1000) return false;
    taken.times[taken.next] = atMs;
    taken.next = (taken.next + 1) % limit;
    return true;
  };
}
