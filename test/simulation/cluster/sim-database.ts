import { type Store, StoreLost } from '../../../src/cluster/store.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { Random } from '../../../src/sandbox/random.js';
import { MemoryCluster } from '../../cluster/memory-store.js';
import type { Process } from '../../world/process.js';
import type { Timeline } from '../../world/timeline.js';
import { type CallFaults, NO_CALL_FAULTS } from './cluster-scenario.js';

const LOST_AFTER_MS = 800;

interface Told {
  readonly skewMs: number;
  /** A process makes a call. */
  onAsked(name: string, process: Process): void;
  /** A call took effect. */
  onCall(method: string, args: readonly unknown[], process: Process): void;
  trace(line: string): void;
}

/** The database, and the ways to it: each call takes time there and back, and may be lost on either. */
export class SimDatabase {
  readonly cluster: MemoryCluster;
  faults: CallFaults = NO_CALL_FAULTS;
  /** It, or the way to it, was away for long enough that a lease could end. */
  wasAway = false;
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #told: Told;
  readonly #cutOff = new Map<Process, number>();
  /** How far it is: a way there or back takes about as long. */
  readonly #wayMs: number;
  #downUntilMs = 0;
  /** Counts outages: no reply comes from before one. */
  #era = 0;

  constructor(timeline: Timeline, random: Random, told: Told) {
    this.#timeline = timeline;
    this.#random = random;
    this.#told = told;
    this.#wayMs = random() < 0.5 ? 0.1 + random() * 2 : 2 + random() * 73;
    const now = () => 1_795_000_000_000 + timeline.nowMs + told.skewMs;
    const sleep: Clock['sleep'] = (ms) => new Promise((resolve) => timeline.schedule(ms, () => resolve()));
    const clock: Clock = { now, monotonicMs: now, sleep };
    this.cluster = new MemoryCluster(clock);
  }

  goAway(forMs: number, then: () => unknown): void {
    this.#told.trace(`the database is away for ${Math.round(forMs)} ms`);
    this.wasAway = true;
    this.#era += 1;
    this.#downUntilMs = Math.max(this.#downUntilMs, this.#timeline.nowMs + forMs);
    this.#timeline.schedule(forMs, () => void then());
  }

  cutOff(process: Process, forMs: number): void {
    this.#told.trace(`${process.name} does not reach the database for ${Math.round(forMs)} ms`);
    this.wasAway = true;
    this.#cutOff.set(process, this.#timeline.nowMs + forMs);
  }

  readonly connect = (process: Process): Store => {
    const direct = this.cluster.connect();
    const through = Object.entries(direct).map(([name, method]) => {
      if (name === 'close') return [name, method];
      return [name, (...args: unknown[]) => this.#call(process, name, () => method(...(args as never[])), args)];
    });
    return Object.fromEntries(through) as Store;
  };

  #call(process: Process, name: string, act: () => Promise<unknown>, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const later = (delayMs: number, act: () => void) => this.#timeline.schedule(delayMs, act, process);
      const lose = (delayMs: number) => later(delayMs, () => reject(new StoreLost('the connection broke')));
      if (!process.callOut(`asks ${name}`)) return;
      this.#told.onAsked(name, process);
      const era = this.#era;
      this.#timeline.schedule(this.#travelMs(), () => {
        if (!this.#isReached(process) || this.#random() < this.faults.lostBefore) {
          lose(this.#random() * LOST_AFTER_MS);
          return;
        }
        // What reaches the database takes effect, whatever has become of its caller.
        act().then(
          (value) => {
            this.#told.onCall(name, args, process);
            const isLost = this.#random() < this.faults.lostAfter;
            if (isLost) lose(this.#random() * LOST_AFTER_MS);
            else
              later(this.#travelMs(), () => {
                if (this.#era === era && this.#isReached(process)) resolve(value);
                else reject(new StoreLost('the connection broke'));
              });
          },
          (error: unknown) => later(this.#travelMs(), () => reject(error)),
        );
      });
    });
  }

  #isReached(process: Process): boolean {
    const { nowMs } = this.#timeline;
    return nowMs >= this.#downUntilMs && nowMs >= (this.#cutOff.get(process) ?? 0);
  }

  #travelMs(): number {
    return this.#random() < this.faults.slow ? 20 + this.#random() * 1_500 : this.#wayMs * (0.8 + this.#random() / 2);
  }
}
