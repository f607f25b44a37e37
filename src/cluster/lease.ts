import type { Clock } from '../ports/clock.js';
import { ageMs, NEVER, readMoment } from '../ports/clock.js';
import type { SentCalls, Store, WorkerEntry, WorkerKey } from './store.js';

/** The worker sends nothing more this long before others may take what it holds: for a request on its way. */
const SAFETY_MS = 10_000;
const BEATS_PER_LEASE = 6;
/** Shorter than the database waits after a promotion. */
const MAX_BEAT_MS = 5_000;
/** A standby that is promoted may lack as much. */
const REMEMBERED_MS = 600_000;

/** The lease had ended, or may have, or the store refused an attempt under it: the worker sends nothing more under it. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/**
 * The lease of one worker. A process that was paused for longer sends nothing when it wakes: its clocks are read
 * right before each request, both of them, since the monotonic one stands still while a machine sleeps. `name`: of the worker, for people.
 */
export function createLease(
  worker: string,
  calls: AcknowledgedCalls,
  { leaseMs, name }: { readonly leaseMs: number; readonly name: string },
) {
  const { clock } = calls;
  const stopping = new AbortController();
  let confirmed = NEVER;
  let isLost = false;
  let renewing: Promise<void> = Promise.resolve();

  const isFresh = () => !isLost && ageMs(clock, confirmed) <= leaseMs - SAFETY_MS;
  const beat = async () => {
    const start = readMoment(clock);
    if (await calls.beat(worker, { name, leaseMs })) confirmed = start;
    else isLost = true;
  };
  const renew = async () => {
    const everyMs = Math.min(MAX_BEAT_MS, leaseMs / BEATS_PER_LEASE);
    while (!isLost) {
      await clock.sleep(everyMs, stopping.signal);
      if (stopping.signal.aborted) return;
      // The lease then ends, and assertFresh says so before the next request.
      await beat().catch(() => {});
    }
  };
  return {
    worker,
    /** The calls of the process, under whatever lease. */
    calls,
    get isLost() {
      return isLost;
    },
    get isFresh() {
      return isFresh();
    },
    async start(): Promise<void> {
      await beat();
      renewing = renew();
    },
    assertFresh(): void {
      if (!isFresh()) throw new LeaseLost('the worker may no longer hold what it has claimed');
    },
    /** Says once more what it sent: otherwise no one would know of a worker that leaves in a new life of the server. */
    async stop(): Promise<void> {
      stopping.abort();
      await renewing;
      await beat().catch(() => {});
    },
  };
}

export type Lease = ReturnType<typeof createLease>;

/**
 * The calls of a process by which it sends. It remembers what the store has acknowledged: that proves, in a new life of the server, that
 * nothing of it is missing.
 */
export function createCalls(store: Store, clock: Clock) {
  /** The life of the server, as the process last heard of it. */
  let life: string | undefined;
  /** The life of the server in which the process has checked in last. */
  let checkedIn: string | undefined;
  let last = 0;
  /** The last acknowledged call of each worker in whose name calls were made. */
  const acknowledged = new Map<string, { call: number; atMs: number }>();
  const births = new Set<string>();

  /** Lists what was sent; `worker` has the lease of now. */
  const list = (worker: string): SentCalls => {
    const fromMs = clock.now() - REMEMBERED_MS;
    for (const [of, { atMs }] of acknowledged) if (of !== worker && atMs < fromMs) acknowledged.delete(of);
    const calls = new Map([[worker, 0], ...[...acknowledged].map(([of, { call }]) => [of, call] as const)]);
    return { calls: [...calls].map(([of, call]) => ({ worker: of, call })), births: [...births] };
  };
  return {
    store,
    clock,
    /** False once the lease of the worker had ended. */
    async beat(worker: string, about: { readonly name: string; readonly leaseMs: number }): Promise<boolean> {
      for (;;) {
        const sent = checkedIn === life ? undefined : list(worker);
        const answer = await store.beat(worker, { ...about, life, sent });
        if (answer.life === life) {
          checkedIn = life;
          return answer.isAlive;
        }
        // Invariant: first the life, then the numbers. What the life before acknowledges from now on does not count.
        life = answer.life;
      }
    },
    /** Returns the indexes of begins that must not be sent. `born`: of the run. */
    async append(key: WorkerKey, born: string, entries: readonly WorkerEntry[]): Promise<readonly number[]> {
      last += 1;
      const call = last;
      const { refused, life: inLife } = await store.append(key, entries, call);
      // In another life the call does not count: another server has taken the place of that one, and this process checks in there without it.
      if (inLife !== life) return [...entries.keys()];
      acknowledged.set(key.worker, { call, atMs: clock.now() });
      births.add(born);
      return refused;
    },
  };
}

export type AcknowledgedCalls = ReturnType<typeof createCalls>;
