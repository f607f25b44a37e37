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
 * right before each request, both of them, since the monotonic one stands still while a machine sleeps.
 */
export class Lease {
  readonly worker: string;
  /** The calls of the process, under whatever lease. */
  readonly calls: AcknowledgedCalls;
  readonly #leaseMs: number;
  readonly #name: string;
  readonly #stop = new AbortController();
  #confirmed = NEVER;
  #isLost = false;
  #renewing: Promise<void> = Promise.resolve();

  /** `name`: of the worker, for people. */
  constructor(worker: string, calls: AcknowledgedCalls, { leaseMs, name }: { leaseMs: number; name: string }) {
    this.worker = worker;
    this.calls = calls;
    this.#leaseMs = leaseMs;
    this.#name = name;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  get isFresh(): boolean {
    return !this.#isLost && ageMs(this.calls.clock, this.#confirmed) <= this.#leaseMs - SAFETY_MS;
  }

  async start(): Promise<void> {
    await this.#beat();
    this.#renewing = this.#renew();
  }

  assertFresh(): void {
    if (!this.isFresh) throw new LeaseLost('the worker may no longer hold what it has claimed');
  }

  /** Says once more what it sent: otherwise no one would know of a worker that leaves in a new life of the server. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#renewing;
    await this.#beat().catch(() => {});
  }

  async #renew(): Promise<void> {
    const everyMs = Math.min(MAX_BEAT_MS, this.#leaseMs / BEATS_PER_LEASE);
    while (!this.#isLost) {
      await this.calls.clock.sleep(everyMs, this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      // The lease then ends, and assertFresh says so before the next request.
      await this.#beat().catch(() => {});
    }
  }

  async #beat(): Promise<void> {
    const start = readMoment(this.calls.clock);
    const isAlive = await this.calls.beat(this.worker, { name: this.#name, leaseMs: this.#leaseMs });
    if (isAlive) this.#confirmed = start;
    else this.#isLost = true;
  }
}

/**
 * The calls of a process by which it sends. It remembers what the store has acknowledged: that proves, in a new life of the server, that
 * nothing of it is missing.
 */
export class AcknowledgedCalls {
  readonly store: Store;
  readonly clock: Clock;
  /** The life of the server, as the process last heard of it. */
  #life: string | undefined;
  /** The life of the server in which the process has checked in last. */
  #checkedIn: string | undefined;
  #last = 0;
  /** The last acknowledged call of each worker in whose name calls were made. */
  readonly #calls = new Map<string, { call: number; atMs: number }>();
  readonly #births = new Set<string>();

  constructor(store: Store, clock: Clock) {
    this.store = store;
    this.clock = clock;
  }

  /** False once the lease of the worker had ended. */
  async beat(worker: string, about: { readonly name: string; readonly leaseMs: number }): Promise<boolean> {
    for (;;) {
      const sent = this.#checkedIn === this.#life ? undefined : this.#list(worker);
      const { isAlive, life } = await this.store.beat(worker, { ...about, life: this.#life, sent });
      if (life === this.#life) {
        this.#checkedIn = life;
        return isAlive;
      }
      // Invariant: first the life, then the numbers. What the life before acknowledges from now on does not count.
      this.#life = life;
    }
  }

  /** Returns the indexes of begins that must not be sent. `born`: of the run. */
  async append(key: WorkerKey, born: string, entries: readonly WorkerEntry[]): Promise<readonly number[]> {
    this.#last += 1;
    const call = this.#last;
    const { refused, life } = await this.store.append(key, entries, call);
    // In another life the call does not count: another server has taken the place of that one, and this process checks in there without it.
    if (life !== this.#life) return [...entries.keys()];
    this.#calls.set(key.worker, { call, atMs: this.clock.now() });
    this.#births.add(born);
    return refused;
  }

  /** Lists what was sent; `worker` has the lease of now. */
  #list(worker: string): SentCalls {
    const fromMs = this.clock.now() - REMEMBERED_MS;
    for (const [before, { atMs }] of this.#calls) if (before !== worker && atMs < fromMs) this.#calls.delete(before);
    const calls = new Map([[worker, 0], ...[...this.#calls].map(([of, { call }]) => [of, call] as const)]);
    return { calls: [...calls].map(([of, call]) => ({ worker: of, call })), births: [...this.#births] };
  }
}
