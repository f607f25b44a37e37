/** How many requests in any second; the first two are numbers of the service's documentation, the third is the contract's. */
export interface RateLimits {
  readonly perSubAccount: number;
  readonly perAddress: number;
  /** Workplace chat. */
  readonly perChatKey: number;
}

export const DOCUMENTED_RATE_LIMITS: RateLimits = { perSubAccount: 1800, perAddress: 3000, perChatKey: 5 };
export const NO_RATE_LIMITS: RateLimits = {
  perSubAccount: Number.POSITIVE_INFINITY,
  perAddress: Number.POSITIVE_INFINITY,
  perChatKey: Number.POSITIVE_INFINITY,
};

/** Counts requests by name. */
export interface RateCounter {
  /** Takes a request at `atMs` (monotonic); false, and not counted, when `limit` others were taken in the second before. */
  take(name: string, atMs: number): boolean;
}

/** Exact in every sliding second: remembers the time of the last `limit` requests of each name. */
export function createRateCounter(limit: number): RateCounter {
  const takenOf = new Map<string, { times: Float64Array; next: number }>();
  return {
    take: (name, atMs) => {
      if (!Number.isFinite(limit)) return true;
      let taken = takenOf.get(name);
      if (taken === undefined) {
        taken = { times: new Float64Array(limit).fill(Number.NEGATIVE_INFINITY), next: 0 };
        takenOf.set(name, taken);
      }
      const oldest = taken.times[taken.next] ?? Number.POSITIVE_INFINITY;
      if (atMs - oldest < 1000) return false;
      taken.times[taken.next] = atMs;
      taken.next = (taken.next + 1) % limit;
      return true;
    },
  };
}
