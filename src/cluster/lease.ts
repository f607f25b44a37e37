import type { Clock } from '../ports/clock.js';
import { ageMs, NEVER, readMoment } from '../ports/clock.js';
import type { SentCalls, Store } from './store.js';

/** The worker sends nothing more this long before others may take what it holds: for a request on its way. */
const SAFETY_MS = 10_000;
const BEATS_PER_LEASE = 6;
/** After a promotion the database waits for longer than this. */
const MAX_BEAT_MS = 5_000;
/** A standby that is promoted may lack as much. */
const REMEMBERED_MS = 600_000;

/** The lease had ended, or may have, or the store refused an attempt under it: the worker sends nothing more under it. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

export interface LeaseDeps {
  readonly store: Pick<Store, 'beat' | 'checkIn'>;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** Of the worker, for people. */
  readonly name: string;
  /** Of the process, under whatever lease. */
  readonly sent: Pick<AcknowledgedCalls, 'list' | 'life' | 'checkedIn'>;
}

/**
 * The lease of one worker. A process that was paused for longer sends nothing when it wakes: its clocks are read
 * right before each request, both of them, since the monotonic one stands still while a machine sleeps.
 */
export class Lease {
  readonly worker: string;
  readonly #deps: LeaseDeps;
  readonly #stop = new AbortController();
  #confirmed = NEVER;
  #isLost = false;
  #renewing: Promise<void> = Promise.resolve();

  constructor(worker: string, deps: LeaseDeps) {
    this.worker = worker;
    this.#deps = deps;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Since 1970, by the clock of this process; undefined before the first confirmation. */
  get lastBeatMs(): number | undefined {
    const { atMs } = this.#confirmed;
    return Number.isFinite(atMs) ? atMs : undefined;
  }

  get isFresh(): boolean {
    const { clock, leaseMs } = this.#deps;
    return !this.#isLost && ageMs(clock, this.#confirmed) <= leaseMs - SAFETY_MS;
  }

  async start(): Promise<void> {
    await this.#beat();
    this.#renewing = this.#renew();
  }

  assertFresh(): void {
    if (!this.isFresh) throw new LeaseLost('the worker may no longer hold what it has claimed');
  }

  /** Once more it says what it sent: of a worker that leaves in a new life of the server without that, no one knows. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#renewing;
    await this.#beat().catch(() => {});
  }

  async #renew(): Promise<void> {
    const { clock, leaseMs } = this.#deps;
    while (!this.#isLost) {
      await clock.sleep(Math.min(MAX_BEAT_MS, leaseMs / BEATS_PER_LEASE), this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      // The lease then ends, and assertFresh says so before the next request.
      await this.#beat().catch(() => {});
    }
  }

  async #beat(): Promise<void> {
    const { store, clock, leaseMs, name, sent } = this.#deps;
    const start = readMoment(clock);
    const { isAlive, life } = await store.beat(this.worker, { name, leaseMs, life: sent.checkedIn });
    if (!isAlive) this.#isLost = true;
    else this.#confirmed = start;
    // Invariant: first the life, then the numbers. What the life before acknowledges from now on does not count.
    sent.life = life;
    if (sent.checkedIn === life) return;
    await store.checkIn(life, sent.list(this.worker));
    sent.checkedIn = life;
  }
}

/** What the store has acknowledged to a process: it proves, in a new life of the server, that nothing of it is missing. */
export class AcknowledgedCalls {
  /** Of the server, as the process last heard of it. */
  life: string | undefined;
  /** In which the process has checked in last. */
  checkedIn: string | undefined;
  readonly #clock: Clock;
  #last = 0;
  readonly #calls = new Map<string, { call: number; atMs: number }>();
  readonly #births = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The number of a call. */
  next(): number {
    this.#last += 1;
    return this.#last;
  }

  note(worker: string, call: number, born: string): void {
    this.#calls.set(worker, { call, atMs: this.#clock.now() });
    this.#births.add(born);
  }

  /** `worker`: with the lease of now. */
  list(worker: string): SentCalls {
    const fromMs = this.#clock.now() - REMEMBERED_MS;
    for (const [before, { atMs }] of this.#calls) if (before !== worker && atMs < fromMs) this.#calls.delete(before);
    const calls = new Map([[worker, 0], ...[...this.#calls].map(([of, { call }]) => [of, call] as const)]);
    return { calls: [...calls].map(([of, call]) => ({ worker: of, call })), births: [...this.#births] };
  }
}
