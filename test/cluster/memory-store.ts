import { deserialize, serialize } from 'node:v8';
import { type LeadKey, LeadLost, nameOfPart, type Store, StoreLost } from '../../src/cluster/store.js';
import type { PartResult } from '../../src/journal/entry-format.js';
import { bookTurns } from './lane-rule.js';
import { MemoryTables, newPart, type Part, type Run } from './memory-tables.js';

const REMEMBERED_MS = 600_000;

/** A whole call, as a test may break it: before it takes effect, or when its reply is on the way. */
export type BreakCall = (method: string) => Promise<'before' | 'after' | undefined> | 'before' | 'after' | undefined;

/** What PostgreSQL keeps, in memory, by the rules of postgres/schema; a test compares the two in any history. */
export class MemoryCluster extends MemoryTables {
  /** The server starts anew; `losesCommits`: without the last call of each worker. */
  restart({ losesCommits = false } = {}): void {
    this.life = `life-${++this.counted}`;
    for (const worker of this.workers.values()) {
      worker.calls -= Number(losesCommits);
      if (worker.goneAt === undefined)
        worker.leaseUntil = Math.max(worker.leaseUntil, this.clock.now() + worker.leaseMs);
    }
  }

  /** A standby of this moment: `promote` makes it the server, and all that came after it is lost. */
  copyStandby(): { promote(): void } {
    const kept = serialize([this.runs, this.workers, this.lanes]);
    return {
      promote: () => {
        [this.runs, this.workers, this.lanes] = deserialize(kept);
        this.restart();
        this.promotedAt = this.clock.now();
      },
    };
  }

  /** The names of its lanes. */
  get laneNames(): readonly string[] {
    return [...this.lanes.keys()];
  }

  /** Whether a process is known to lead it now. */
  isLed(run: string): boolean {
    return (this.runs.get(run)?.leaseUntil ?? 0) > this.clock.now();
  }

  /** The last attempt of each part. */
  attempts(): readonly Readonly<Part & { nonce: string }>[] {
    const parts = [...this.runs.values()].flatMap((run) => [...run.parts.values()]);
    return parts.flatMap(({ nonce, ...part }) => (nonce === undefined ? [] : [{ ...part, nonce }]));
  }

  /** As `volley cluster drop` does: false while workers send some of it; nothing begins from then on. */
  dropAll(): boolean {
    for (const id of [...this.runs.keys()]) this.#drop(id);
    return this.runs.size === 0;
  }

  /** How many parts are kept, and how many of them were begun. */
  count(): { parts: number; attempts: number } {
    const parts = [...this.runs.values()].reduce((sum, run) => sum + run.parts.size, 0);
    return { parts, attempts: this.attempts().length };
  }

  connect(breakCall: BreakCall = () => undefined): Store {
    const call =
      <Args extends unknown[], T>(name: string, task: (...args: Args) => T | Promise<T>) =>
      async (...args: Args): Promise<T> => {
        if ((await breakCall(name)) === 'before') throw new StoreLost('the connection broke');
        const result = deserialize(serialize(await task(...args))) as T;
        if ((await breakCall(`${name} reply`)) !== undefined) throw new StoreLost('the connection broke');
        return result;
      };
    return {
      readServer: call('readServer', () => ({ life: this.life, atMs: this.clock.now(), isSynchronous: false })),
      standBy: call('standBy', () => {}),
      close: async () => {},
      lead: call('lead', (...asked) => this.#lead(...asked)),
      openStep: call('openStep', (key, step) => {
        Object.assign(this.#led(key), { step, isOpen: true });
      }),
      handOver: call('handOver', (...asked) => this.#handOver(...asked)),
      renewLead: call('renewLead', (key, { leaseMs, seenAtMs }) => {
        const leaseUntil = Math.min(seenAtMs, this.clock.now()) + leaseMs;
        Object.assign(this.#led(key), { leaseMs, leaseUntil });
      }),
      readNews: call('readNews', (...asked) => this.#readNews(...asked)),
      takeBack: call('takeBack', (...asked) => this.#takeBack(...asked)),
      confirmLife: call('confirmLife', (key) => this.#confirmLife(key)),
      drop: call('drop', async (key) => {
        while (this.runs.has(key.run) && this.#led(key) && !this.#drop(key.run)) await this.clock.sleep(200);
      }),
      beat: call('beat', (...asked) => this.beat(...asked)),
      findRun: call('findRun', (filter) => this.findRun(filter)),
      claim: call('claim', (...asked) => this.claim(...asked)),
      append: call('append', (...asked) => this.append(...asked)),
      recover: call('recover', (leaving) => this.recover(leaving)),
      askToStop: call('askToStop', ({ run: id, epoch }, stop) => {
        const run = this.runs.get(id);
        if (run?.epoch === epoch) run.stop ??= { ...stop, detail: stop.detail.replaceAll('\u0000', '') };
      }),
      book: call('book', (lane, ask) => {
        const now = { life: this.life, nowMs: this.clock.now() };
        const { row, booked } = bookTurns(this.lanes.get(lane), ask, now);
        this.lanes.set(lane, row);
        return booked;
      }),
    };
  }

  #led({ run, epoch }: LeadKey): Run {
    const led = this.runs.get(run);
    if (led?.epoch !== epoch) throw new LeadLost(`another process leads run ${run}`);
    return led;
  }

  #lead(...[{ run: id, epoch }, { leader, job, digest }]: Parameters<Store['lead']>) {
    const [promotedAt, life] = [this.promotedAt, this.life];
    const run = this.runs.get(id) ?? {
      ...{ born: `birth ${++this.counted}`, promotedAt, epoch, leader, job, digest, step: undefined, isOpen: false },
      ...{ leaseMs: 0, leaseUntil: Number.NEGATIVE_INFINITY, life, hasLost: false, stop: undefined, parts: new Map() },
    };
    if (run.epoch > epoch || (run.epoch === epoch && run.leader !== leader))
      throw new LeadLost(`another process leads run ${id}`);
    const stop = run.epoch === epoch ? run.stop : undefined;
    Object.assign(run, { epoch, leader, job, digest, isOpen: false, stop });
    this.runs.set(id, run);
    const parts = [...run.parts.values()].map(({ step, request, part, state, ended }) => {
      return { step, request, part, state, isTaken: state === 'done' && ended === undefined };
    });
    return { born: run.born, isNew: run.step === undefined, isNewLife: run.life !== life, parts };
  }

  #handOver(...[key, handed]: Parameters<Store['handOver']>): void {
    const { parts } = this.#led(key);
    for (const part of handed) {
      if (parts.has(nameOfPart(part))) continue;
      const begun = part.isInFlight ? { attempt: 1, nonce: `handed over ${++this.counted}` } : {};
      parts.set(nameOfPart(part), { ...newPart(part, 'open'), ...begun });
    }
  }

  #readNews(...[key, { limit, taken = [] }]: Parameters<Store['readNews']>) {
    const run = this.#led(key);
    const parts = [...run.parts.values()];
    for (const part of parts) if (taken.includes(part.ended ?? 0)) part.ended = undefined;
    const untaken = parts.flatMap(({ ended, ...part }) => (ended === undefined ? [] : [{ ended, ...part }]));
    untaken.sort((one, other) => one.ended - other.ended);
    const ended = untaken.slice(0, limit).map(({ step, request, part, ended: order, rows, result, at }) => {
      return { step, request, part, order, rows, result: result as PartResult, at };
    });
    return {
      ...{ ended, stop: run.stop, life: this.life, isSynchronous: false },
      openStep: run.isOpen ? run.step?.step : undefined,
      workers: [...this.workers.keys()].filter((worker) => this.hasLease(worker)).length,
      isConfirmed: run.life === this.life && !run.hasLost,
    };
  }

  #takeBack(...[key, asked]: Parameters<Store['takeBack']>) {
    const { hasLost, life, parts } = this.#led(key);
    if (hasLost || life !== this.life) return [];
    return asked.flatMap(({ step, request, part }) => {
      const name = nameOfPart({ step, request, part });
      const { state, isInFlight = false } = parts.get(name) ?? {};
      if (state === 'under-way' || state === 'done') return [];
      if (!isInFlight) parts.delete(name);
      return [{ step, request, part, isInFlight }];
    });
  }

  #confirmLife(key: LeadKey): 'same' | 'waiting' | 'lost' {
    const run = this.#led(key);
    if (run.hasLost) return 'lost';
    if (run.life === this.life) return 'same';
    const others = [...this.workers].filter(([, { life }]) => life !== this.life);
    if (others.some(([worker]) => this.hasLease(worker))) return 'waiting';
    // One that was at work of late and does not come again can no longer say what it sent.
    const isUnknown = others.some(
      ([, { seenAt, goneAt = Number.POSITIVE_INFINITY }]) =>
        seenAt > this.promotedAt - REMEMBERED_MS && goneAt > this.promotedAt,
    );
    run.hasLost = this.promotedAt !== run.promotedAt && isUnknown;
    if (run.hasLost) return 'lost';
    Object.assign(run, { life: this.life, promotedAt: this.promotedAt });
    return 'same';
  }

  /** False while workers send some of the run; nothing of it begins from then on. */
  #drop(id: string): boolean {
    const run = this.runs.get(id);
    if (run !== undefined) run.stop ??= { reason: 'interrupted', detail: 'it is dropped from the database' };
    const parts = [...(run?.parts.values() ?? [])];
    return !parts.some(({ state, owner }) => state === 'under-way' && this.hasLease(owner)) && this.runs.delete(id);
  }
}
