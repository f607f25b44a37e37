import { deserialize, serialize } from 'node:v8';
import { type Store, StoreLost } from '../../src/cluster/store.js';
import type { Clock } from '../../src/ports/clock.js';
import { bookTurns } from './memory/lane-rule.js';
import { confirmLife, drop, handOver, lead, openStep, readNews, withdraw } from './memory/leader-calls.js';
import { checkIn, recover } from './memory/losing-calls.js';
import { type Attempt, MemoryState, partName, REMEMBERED_MS } from './memory/memory-state.js';
import { append, beat, claim, findRun, leave } from './memory/worker-calls.js';

const GRACE_MS = 30_000;

/** A whole call, as a test may break it: before it takes effect, or when its reply is on the way. */
export type BreakCall = (method: string) => Promise<'before' | 'after' | undefined> | 'before' | 'after' | undefined;

/** What PostgreSQL keeps, in memory; the contract's tests hold both to the same (contract/). */
export class MemoryCluster {
  /** Of connections that were closed before. */
  readonly lateCalls: string[] = [];
  readonly #memory: MemoryState;
  #lifeFrom = Number.NEGATIVE_INFINITY;
  #lives = 1;

  constructor(clock: Clock) {
    this.#memory = new MemoryState(clock);
  }

  /** The server starts anew; `losesCommits`: without the last call of each worker. */
  restart({ losesCommits = false } = {}): void {
    this.#lives += 1;
    this.#memory.life = `life-${this.#lives}`;
    this.#lifeFrom = this.#memory.clock.now();
    for (const worker of this.#memory.workers.values()) worker.calls -= Number(losesCommits);
    for (const worker of this.#memory.workers.values()) {
      if (worker.leaseUntil > this.#lifeFrom - REMEMBERED_MS) {
        worker.leaseUntil = Math.max(worker.leaseUntil, this.#lifeFrom + GRACE_MS);
      }
    }
  }

  /** A standby of this moment: `promote` makes it the server, and all that came after it is lost. */
  copyStandby(): { promote(): void } {
    const kept = structuredClone([[...this.#memory.runs], [...this.#memory.workers], [...this.#memory.lanes]] as const);
    return {
      promote: () => {
        for (const [map, entries] of [
          [this.#memory.runs, kept[0]],
          [this.#memory.workers, kept[1]],
          [this.#memory.lanes, kept[2]],
        ] as [Map<string, unknown>, [string, unknown][]][]) {
          map.clear();
          for (const [key, value] of entries) map.set(key, value);
        }
        this.restart();
        this.#memory.promotedAt = this.#lifeFrom;
      },
    };
  }

  /** The names of its lanes. */
  get lanes(): readonly string[] {
    return [...this.#memory.lanes.keys()];
  }

  /** The process that leads a run. */
  leaderOf(run: string): string {
    return this.#memory.runs.get(run)?.leader ?? '';
  }

  /** Whether a process is known to lead it now. */
  isLed(run: string): boolean {
    const { runs, clock } = this.#memory;
    return (runs.get(run)?.leaseUntil ?? 0) > clock.now();
  }

  /** Attempts of all runs, in the order of their begins; `isQueried`: the service is to be asked about it. */
  attempts(): readonly (Readonly<Attempt> & {
    readonly run: string;
    readonly rows: readonly [number, number];
    readonly isQueried: boolean;
  })[] {
    return [...this.#memory.runs].flatMap(([run, { attempts, parts }]) =>
      [...attempts.values()].map((attempt) => {
        const part = parts.get(partName(attempt));
        const isQueried = part?.isInFlight === true && part.attempt === attempt.attempt;
        return { ...attempt, run, rows: part?.rows ?? [0, 0], isQueried };
      }),
    );
  }

  /** As `volley cluster drop` does: false while workers send some of it; nothing begins from then on. */
  dropAll(): boolean {
    for (const id of [...this.#memory.runs.keys()]) drop(this.#memory, id);
    return this.#memory.runs.size === 0;
  }

  /** All parts and bodies that are kept, for tests. */
  count(): { parts: number; attempts: number; workers: number } {
    const runs = [...this.#memory.runs.values()];
    return {
      parts: runs.reduce((sum, run) => sum + run.parts.size, 0),
      attempts: runs.reduce((sum, run) => sum + run.attempts.size, 0),
      workers: this.#memory.workers.size,
    };
  }

  connect(breakCall: BreakCall = () => undefined): Store {
    const memory = this.#memory;
    let isClosed = false;
    const call =
      <Args extends unknown[], T>(name: string, task: (...args: Args) => T | Promise<T>) =>
      async (...args: Args): Promise<T> => {
        if (isClosed) {
          this.lateCalls.push(name);
          throw new StoreLost('the connection is closed');
        }
        const fault = await breakCall(name);
        if (fault === 'before') throw new StoreLost('the connection broke');
        const result = deserialize(serialize(await task(...args))) as T;
        if (fault === 'after' || (await breakCall(`${name} reply`)) !== undefined) {
          throw new StoreLost('the connection broke');
        }
        return result;
      };
    return {
      readServer: call('readServer', () => ({
        life: memory.life,
        atMs: memory.clock.now(),
        isSynchronous: false,
      })),
      standBy: call('standBy', () => {}),
      close: async () => {
        isClosed = true;
      },
      lead: call('lead', (key, newLead) => lead(memory, key, newLead)),
      openStep: call('openStep', (key, step) => openStep(memory, key, step)),
      handOver: call('handOver', (key, parts) => handOver(memory, key, parts)),
      readNews: call('readNews', (key, ask) => readNews(memory, key, ask)),
      withdraw: call('withdraw', (key) => withdraw(memory, key)),
      confirmLife: call('confirmLife', (key) => confirmLife(memory, key)),
      drop: call('drop', async (key) => {
        while (memory.runs.has(key.run) && memory.led(key) && !drop(memory, key.run)) await memory.clock.sleep(200);
      }),
      beat: call('beat', (worker, about) => beat(memory, worker, about)),
      findRun: call('findRun', (filter) => findRun(memory, filter)),
      hasRuns: call('hasRuns', ({ run, job }) =>
        [...memory.runs].some(([id, known]) => id === (run ?? id) && known.job === (job ?? known.job)),
      ),
      claim: call('claim', (key, ask) => claim(memory, key, ask)),
      append: call('append', (key, entries, number) => {
        const worker = memory.workers.get(key.worker);
        const counts = worker?.life === memory.life;
        if (counts) worker.calls = Math.max(worker.calls, number);
        const refused = entries.flatMap((entry, index) => (append(memory, key, entry) ? [] : [index]));
        return { refused, life: counts ? memory.life : '' };
      }),
      leave: call('leave', (worker) => leave(memory, worker)),
      recover: call('recover', () => recover(memory)),
      checkIn: call('checkIn', (life, sent) => checkIn(memory, life, sent)),
      askToStop: call('askToStop', (run, { epoch, reason, detail }) => {
        const found = memory.runs.get(run);
        if (found?.epoch === epoch) found.stop ??= { reason, detail: detail.replaceAll('\u0000', '') };
      }),
      book: call('book', (lane, ask) => {
        const { row, booked } = bookTurns(memory.lanes.get(lane), ask, {
          life: memory.life,
          nowMs: memory.clock.now(),
        });
        memory.lanes.set(lane, row);
        return booked;
      }),
    };
  }
}
