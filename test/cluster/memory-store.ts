import { deserialize, serialize } from 'node:v8';
import { bookTurns, type LaneRow } from '../../src/cluster/lane-rule.js';
import {
  type AttemptKey,
  type BeginEntry,
  type EndEntry,
  type HandedPart,
  type LeadKey,
  LeadLost,
  type OpenStep,
  type RememberedAttempt,
  type Store,
  StoreLost,
  type WithdrawnPart,
  type WorkerKey,
} from '../../src/cluster/store.js';
import type { RequestKey, Result } from '../../src/journal/entry-format.js';
import { sameVerdictForAll } from '../../src/kinds/outcomes.js';
import type { RequestHead } from '../../src/plan/format/plan-file.js';
import type { Clock } from '../../src/ports/clock.js';
import { RUN_ENDED } from '../../src/registry/in-flight/end-in-flight.js';

interface Part extends RequestKey {
  readonly rows: readonly [number, number];
  readonly head: RequestHead;
  readonly body: Buffer;
  state: 'open' | 'claimed' | 'under-way' | 'done';
  owner: string | undefined;
  attempt: number;
  isInFlight: boolean;
}

interface Attempt extends RequestKey {
  readonly attempt: number;
  readonly nonce: string;
  result: Result | undefined;
  at: number;
  byRecovery: boolean;
  isLate: boolean;
  untaken: boolean;
  version: number;
  /** The life in which a worker put it back. */
  putBack?: string;
}

interface Run {
  readonly born: string;
  confirmedAt: number;
  epoch: number;
  job: string;
  step: OpenStep | undefined;
  isOpen: boolean;
  /** Of its leader. */
  leaseUntil: number;
  isDropped: boolean;
  life: string;
  lost: boolean;
  stop: { reason: string; detail: string } | undefined;
  readonly parts: Map<string, Part>;
  readonly attempts: Map<string, Attempt>;
  withdrawn: Part[];
}

interface Worker {
  goneAt?: number;
  leaseUntil: number;
  life: string;
  seenAt: number;
}

const REMEMBERED_MS = 600_000;

/** A whole call, as a test may break it: before it takes effect, or when its reply is on the way. */
export type BreakCall = (method: string) => Promise<'before' | 'after' | undefined> | 'before' | 'after' | undefined;

/** What PostgreSQL keeps, in memory; the contract's tests hold both to the same (store-contract.ts). */
export class MemoryCluster {
  readonly #clock: Clock;
  readonly #runs = new Map<string, Run>();
  readonly #workers = new Map<string, Worker>();
  readonly #lanes = new Map<string, LaneRow>();
  #life = 'life-1';
  #lifeFrom = Number.NEGATIVE_INFINITY;
  #lives = 1;
  #births = 0;
  /** Since then commits of a life before may be lost. */
  #promotedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The server starts anew. `lose` forgets the last attempts, as an asynchronous standby may. */
  restart({ lose = () => false }: { lose?: (attempt: AttemptKey & { nonce: string }) => boolean } = {}): void {
    this.#lives += 1;
    this.#life = `life-${this.#lives}`;
    this.#lifeFrom = this.#clock.now();
    for (const worker of this.#workers.values()) {
      if (worker.leaseUntil > this.#lifeFrom - REMEMBERED_MS) {
        worker.leaseUntil = Math.max(worker.leaseUntil, this.#lifeFrom + GRACE_MS);
      }
    }
    for (const run of this.#runs.values()) {
      for (const attempt of run.attempts.values()) if (lose(attempt)) forget(run, attempt);
    }
  }

  /** A standby of this moment: `promote` makes it the server, and all that came after it is lost. */
  copyStandby(): { promote(): void } {
    const kept = structuredClone([[...this.#runs], [...this.#workers], [...this.#lanes]] as const);
    return {
      promote: () => {
        for (const [map, entries] of [
          [this.#runs, kept[0]],
          [this.#workers, kept[1]],
          [this.#lanes, kept[2]],
        ] as [Map<string, unknown>, [string, unknown][]][]) {
          map.clear();
          for (const [key, value] of entries) map.set(key, value);
        }
        this.restart();
        this.#promotedAt = this.#lifeFrom;
      },
    };
  }

  /** Attempts of all runs, in the order of their begins; `isQueried`: the service is to be asked about it. */
  attempts(): readonly (Readonly<Attempt> & {
    readonly run: string;
    readonly rows: readonly [number, number];
    readonly isQueried: boolean;
  })[] {
    return [...this.#runs].flatMap(([run, { attempts, parts }]) =>
      [...attempts.values()].map((attempt) => {
        const part = parts.get(partName(attempt));
        const isQueried = part?.isInFlight === true && part.attempt === attempt.attempt;
        return { ...attempt, run, rows: part?.rows ?? [0, 0], isQueried };
      }),
    );
  }

  /** As `volley cluster drop` does: false while workers send some of it; nothing begins from then on. */
  dropAll(): boolean {
    for (const id of [...this.#runs.keys()]) this.#drop(id);
    return this.#runs.size === 0;
  }

  #drop(id: string): boolean {
    const run = this.#runs.get(id);
    if (run === undefined) return true;
    Object.assign(run, { isOpen: false, isDropped: true });
    if ([...run.parts.values()].some(({ state, owner }) => state === 'under-way' && this.#isAlive(owner))) return false;
    return this.#runs.delete(id);
  }

  /** All parts and bodies that are kept, for tests. */
  count(): { parts: number; attempts: number; workers: number } {
    const runs = [...this.#runs.values()];
    return {
      parts: runs.reduce((sum, run) => sum + run.parts.size, 0),
      attempts: runs.reduce((sum, run) => sum + run.attempts.size, 0),
      workers: this.#workers.size,
    };
  }

  connect(breakCall: BreakCall = () => undefined): Store {
    const call =
      <Args extends unknown[], T>(name: string, task: (...args: Args) => T | Promise<T>) =>
      async (...args: Args): Promise<T> => {
        const fault = await breakCall(name);
        if (fault === 'before') throw new StoreLost('the connection broke');
        const result = deserialize(serialize(await task(...args))) as T;
        if (fault === 'after' || (await breakCall(`${name} reply`)) !== undefined) {
          throw new StoreLost('the connection broke');
        }
        return result;
      };
    return {
      readServer: call('readServer', () => ({ life: this.#life, atMs: this.#clock.now() })),
      close: async () => {},
      lead: call('lead', async (key, job) => {
        const known = this.#runs.get(key.run);
        if (known?.isDropped === true && known.epoch <= key.epoch) await this.#dropWhole(key.run);
        return this.#lead(key, job);
      }),
      openStep: call('openStep', (key, step) => this.#openStep(key, step)),
      handOver: call('handOver', (key, parts) => this.#handOver(key, parts)),
      readNews: call('readNews', (key, ask) => this.#readNews(key, ask)),
      noteTaken: call('noteTaken', (key, taken) => this.#noteTaken(key, taken)),
      closeStep: call('closeStep', (key) => {
        this.#led(key).isOpen = false;
      }),
      withdraw: call('withdraw', (key) => this.#withdraw(key)),
      confirmLife: call('confirmLife', (key) => this.#confirmLife(key)),
      drop: call('drop', async (key) => {
        if (this.#runs.get(key.run)?.isDropped === false) this.#led(key);
        await this.#dropWhole(key.run);
      }),
      beat: call('beat', (worker, { leaseMs }) => this.#beat(worker, leaseMs)),
      findRun: call('findRun', ({ only }) => this.#findRun(only)),
      hasRuns: call('hasRuns', ({ only }) => [...this.#runs].some(([id]) => only === undefined || only === id)),
      claim: call('claim', (key, ask) => this.#claim(key, ask)),
      append: call('append', (key, entries) => ({
        refused: entries.flatMap((entry, index) => (this.#append(key, entry) ? [] : [index])),
      })),
      leave: call('leave', (worker) => this.#leave(worker)),
      recover: call('recover', () => this.#recover()),
      checkIn: call('checkIn', (worker, attempts) => {
        const missing = attempts.filter((attempt) => this.#putBack(worker, attempt)).length;
        const known = this.#workers.get(worker);
        if (known !== undefined) known.life = this.#life;
        return missing;
      }),
      askToStop: call('askToStop', ({ run }, stop) => {
        const found = this.#runs.get(run);
        if (found !== undefined) found.stop ??= { ...stop, detail: stop.detail.replaceAll('\u0000', '') };
      }),
      book: call('book', (lane, ask) => {
        const { row, booked } = bookTurns(this.#lanes.get(lane), ask, { life: this.#life, nowMs: this.#clock.now() });
        this.#lanes.set(lane, row);
        return booked;
      }),
    };
  }

  async #dropWhole(id: string): Promise<void> {
    while (!this.#drop(id)) await this.#clock.sleep(200);
  }

  #led({ run, epoch }: LeadKey): Run {
    const found = this.#runs.get(run);
    if (found === undefined || found.isDropped || found.epoch !== epoch)
      throw new LeadLost(`another process leads run ${run}`);
    return found;
  }

  #lead({ run: id, epoch }: LeadKey, job: string) {
    const known = this.#runs.get(id);
    if (known !== undefined && known.epoch > epoch) throw new LeadLost(`another process leads run ${id}`);
    // One of which no step was ever opened is as good as new.
    const isNew = known?.step === undefined;
    const run: Run = known ?? {
      born: `birth ${++this.#births}`,
      confirmedAt: this.#clock.now(),
      epoch,
      job,
      step: undefined,
      isOpen: false,
      leaseUntil: Number.NEGATIVE_INFINITY,
      isDropped: false,
      life: this.#life,
      lost: false,
      stop: undefined,
      parts: new Map(),
      attempts: new Map(),
      withdrawn: [],
    };
    for (const part of epoch > run.epoch ? run.withdrawn : []) run.parts.set(partName(part), part);
    if (epoch > run.epoch) run.withdrawn = [];
    Object.assign(run, { epoch, job, isOpen: false, stop: undefined });
    this.#runs.set(id, run);
    return {
      born: run.born,
      isNew,
      isNewLife: run.life !== this.#life,
      parts: [...run.parts.values()].map(({ step, request, part, state, attempt }) => {
        const isTaken =
          state === 'done' && run.attempts.get(attemptName({ step, request, part, attempt }))?.untaken !== true;
        return { step, request, part, state, isTaken };
      }),
    };
  }

  #openStep(key: LeadKey, step: OpenStep): void {
    const leaseUntil = this.#leaseEnd(step);
    Object.assign(this.#led(key), { step, isOpen: true, leaseUntil, withdrawn: [] });
  }

  #leaseEnd({ leaseMs, seenAtMs }: Pick<OpenStep, 'leaseMs' | 'seenAtMs'>): number {
    return Math.min(seenAtMs, this.#clock.now()) + leaseMs;
  }

  #handOver(key: LeadKey, parts: readonly HandedPart[]): void {
    const run = this.#led(key);
    for (const { isInFlight, ...part } of parts) {
      if (run.parts.has(partName(part))) continue;
      const before = [...run.attempts.values()].filter((one) => partName(one) === partName(part));
      const attempt = Math.max(0, ...before.map((one) => one.attempt));
      run.parts.set(partName(part), { ...part, state: 'open', owner: undefined, attempt, isInFlight });
      if (isInFlight) this.#noteSentBefore(run, { ...part, attempt: attempt + 1 });
    }
  }

  #noteSentBefore(run: Run, { step, request, part, attempt }: AttemptKey): void {
    Object.assign(run.parts.get(partName({ step, request, part })) ?? {}, { attempt });
    run.attempts.set(attemptName({ step, request, part, attempt }), {
      ...{ step, request, part, attempt, nonce: 'handed-over', result: undefined, at: this.#clock.now() },
      ...{ byRecovery: false, isLate: false, untaken: false, version: 0 },
    });
  }

  #readNews(key: LeadKey, { limit, seenAtMs }: Parameters<Store['readNews']>[1]) {
    const run = this.#led(key);
    const { leaseMs } = run.step ?? { leaseMs: 0 };
    run.leaseUntil = Math.max(run.leaseUntil, this.#leaseEnd({ leaseMs, seenAtMs }));
    const untaken = [...run.attempts.values()].filter((attempt) => attempt.untaken).slice(0, limit);
    const ended = untaken.flatMap(({ step, request, part, attempt, result, at, isLate, version }) => {
      const rows = run.parts.get(partName({ step, request, part }))?.rows;
      if (rows === undefined || result === undefined) return [];
      return [{ step, request, part, attempt, rows, result, at, isLate, version }];
    });
    const states = [...run.parts.values()].map(({ state }) => state);
    const count = (wanted: Part['state']) => states.filter((state) => state === wanted).length;
    return {
      ended,
      openStep: run.isOpen ? run.step?.step : undefined,
      open: count('open'),
      claimed: count('claimed'),
      underWay: count('under-way'),
      workers: [...this.#workers.values()].filter(({ leaseUntil }) => leaseUntil > this.#clock.now()).length,
      stop: run.stop,
      life: this.#life,
      atMs: this.#clock.now(),
    };
  }

  #noteTaken(key: LeadKey, taken: readonly (AttemptKey & { version: number })[]): void {
    const run = this.#led(key);
    for (const one of taken) {
      const attempt = run.attempts.get(attemptName(one));
      if (attempt?.version === one.version) attempt.untaken = false;
    }
  }

  #withdraw(key: LeadKey): readonly WithdrawnPart[] {
    const run = this.#led(key);
    if (run.isOpen) return [];
    for (const [name, part] of run.parts) {
      if (part.state !== 'open' && part.state !== 'claimed') continue;
      run.parts.delete(name);
      run.withdrawn.push({ ...part, state: 'open', owner: undefined });
    }
    return run.withdrawn.map(({ step, request, part, isInFlight }) => ({ step, request, part, isInFlight }));
  }

  #confirmLife(key: LeadKey): 'same' | 'waiting' | 'lost' {
    const run = this.#led(key);
    if (run.lost) return 'lost';
    if (run.life === this.#life) return 'same';
    const late = [...this.#workers.values()].some(
      ({ life, leaseUntil }) => life !== this.#life && leaseUntil > this.#clock.now(),
    );
    if (late) return 'waiting';
    // One that was at work of late and does not come again can no longer say what it sent.
    const isUnknown = [...this.#workers.values()].some(
      ({ life, seenAt, goneAt = Number.POSITIVE_INFINITY }) =>
        life !== this.#life && seenAt > this.#promotedAt - REMEMBERED_MS && goneAt > this.#promotedAt,
    );
    if (this.#promotedAt >= run.confirmedAt && isUnknown) {
      run.lost = true;
      return 'lost';
    }
    Object.assign(run, { life: this.#life, confirmedAt: this.#clock.now() });
    return 'same';
  }

  #beat(worker: string, leaseMs: number) {
    const now = this.#clock.now();
    const known = this.#workers.get(worker);
    if (known !== undefined && known.leaseUntil <= now) return { isAlive: false, life: this.#life };
    const life = known?.life ?? this.#life;
    this.#workers.set(worker, { life, leaseUntil: now + leaseMs, seenAt: now });
    return { isAlive: true, life: this.#life };
  }

  #findRun(only: string | undefined) {
    for (const [id, run] of this.#runs) {
      if (run.step === undefined || !this.#isClaimable(run)) continue;
      if (only !== undefined && only !== id) continue;
      const { step, provisionedIds } = run.step;
      return { run: id, born: run.born, epoch: run.epoch, job: run.job, step, provisionedIds };
    }
    return undefined;
  }

  #claim({ worker, run: id, step }: WorkerKey, { count, holding, epoch }: Parameters<Store['claim']>[1]) {
    const run = this.#runs.get(id);
    const isLed = run !== undefined && run.epoch === (epoch ?? run.epoch);
    const isOpen = isLed && this.#isWorking(run, { worker, step });
    if (!isOpen) return { parts: [], isOpen: false };
    const held = new Set(holding.map(partName));
    const inOrder = [...run.parts.values()].filter((part) => part.step === step).sort(byPlan);
    const unknown = inOrder.filter(
      (part) => part.owner === worker && part.state === 'claimed' && !held.has(partName(part)),
    );
    const open = inOrder.filter(({ state }) => state === 'open').slice(0, Math.max(0, count - unknown.length));
    for (const part of open) Object.assign(part, { state: 'claimed', owner: worker });
    const parts = [...unknown, ...open].map((part) => {
      const { step: of, request, part: path, rows, head, body, attempt, isInFlight } = part;
      const nonce = isInFlight ? run.attempts.get(attemptName({ ...part, attempt }))?.nonce : undefined;
      return { step: of, request, part: path, rows, head, body: Buffer.from(body), attempt, isInFlight, nonce };
    });
    return { parts, isOpen };
  }

  #isWorking(run: Run, { worker, step }: { worker: string; step: number }): boolean {
    const isOpen = this.#isClaimable(run) && run.step?.step === step;
    return isOpen && this.#isAlive(worker) && this.#workers.get(worker)?.life === this.#life;
  }

  #isClaimable({ isOpen, leaseUntil, stop, lost, life }: Run): boolean {
    return isOpen && leaseUntil > this.#clock.now() && stop === undefined && !lost && life === this.#life;
  }

  #isAlive(worker: string | undefined): boolean {
    return (this.#workers.get(worker ?? '')?.leaseUntil ?? 0) > this.#clock.now();
  }

  /** False: refused. */
  #append(key: WorkerKey, entry: BeginEntry | EndEntry): boolean {
    const run = this.#runs.get(key.run);
    if (run === undefined) return entry.type === 'end';
    return entry.type === 'begin' ? this.#begin(run, key, entry) : this.#end(run, key, entry);
  }

  #begin(run: Run, { worker, step }: WorkerKey, entry: BeginEntry): boolean {
    const { request, part: path, attempt, nonce } = entry;
    const known = run.attempts.get(attemptName(entry));
    const part = run.parts.get(partName(entry));
    const isHeld = part?.owner === worker && this.#isAlive(worker);
    if (known !== undefined) return isHeld && known.nonce === nonce && known.result === undefined;
    const isMine = isHeld && part.state === 'claimed' && part.attempt === attempt - 1 && !part.isInFlight;
    if (!isMine || !this.#isWorking(run, { worker, step })) return false;
    Object.assign(part, { state: 'under-way', attempt, isInFlight: false });
    run.attempts.set(attemptName(entry), {
      ...{ step: entry.step, request, part: path, attempt, nonce, result: undefined },
      ...{ at: this.#clock.now(), byRecovery: false, isLate: false, untaken: false, version: 0 },
    });
    return true;
  }

  #end(run: Run, { worker }: WorkerKey, entry: EndEntry): boolean {
    const attempt = run.attempts.get(attemptName(entry));
    if (attempt === undefined || attempt.nonce !== entry.nonce) return true;
    const part = run.parts.get(partName(entry));
    const isLate = attempt.result !== undefined && attempt.byRecovery && isInDoubt(attempt.result);
    const { result } = entry;
    if (attempt.result !== undefined && !(isLate && result.kind === 'settled')) return true;
    Object.assign(attempt, { result, at: this.#clock.now(), byRecovery: false, isLate });
    Object.assign(attempt, { untaken: true, version: attempt.version + 1 });
    if (part === undefined || isLate) return true;
    // Its worker was lost, and the service may be asked: the answer has come first.
    const isHeld = part.owner === worker && this.#isAlive(worker);
    if (result.kind === 'again') Object.assign(part, { state: isHeld ? 'claimed' : 'open', isInFlight: false });
    else Object.assign(part, { state: 'done', isInFlight: false });
    if (part.state !== 'claimed') part.owner = undefined;
    for (const { part: path, rows } of entry.halves) {
      const half = { ...part, part: path, rows, attempt: 0, isInFlight: false };
      run.parts.set(partName(half), {
        ...half,
        state: isHeld ? 'claimed' : 'open',
        owner: isHeld ? worker : undefined,
      });
    }
    return true;
  }

  #leave(worker: string): void {
    const known = this.#workers.get(worker);
    if (known !== undefined) Object.assign(known, { leaseUntil: Number.NEGATIVE_INFINITY, goneAt: this.#clock.now() });
    for (const run of this.#runs.values()) {
      for (const part of run.parts.values()) {
        if (part.owner === worker && part.state === 'claimed') Object.assign(part, { state: 'open', owner: undefined });
      }
    }
  }

  #recover(): number {
    let count = 0;
    for (const run of this.#runs.values()) {
      for (const part of run.parts.values()) {
        if (part.owner === undefined || this.#isAlive(part.owner)) continue;
        if (part.state === 'claimed') Object.assign(part, { state: 'open' });
        else if (part.state === 'under-way') this.#endLost(run, part);
        part.owner = undefined;
        count += 1;
      }
    }
    return count;
  }

  #endLost(run: Run, part: Part): void {
    const attempt = run.attempts.get(attemptName(part));
    const onLost = run.step?.onLost ?? 'in-doubt';
    if (attempt === undefined || attempt.result !== undefined) return;
    if (onLost === 'query') {
      Object.assign(part, { state: 'open', isInFlight: true });
      return;
    }
    const result: Result =
      onLost === 'again'
        ? { kind: 'again', why: 'the run ended before the answer came' }
        : { kind: 'settled', outcomes: sameVerdictForAll(part.rows[1], RUN_ENDED) };
    Object.assign(attempt, { result, at: this.#clock.now(), byRecovery: true, untaken: true });
    attempt.version += 1;
    part.state = onLost === 'again' ? 'open' : 'done';
  }

  /** True where the attempt was lost; also to a repeated call. */
  #putBack(worker: string, { run: id, born, begin, end }: RememberedAttempt): boolean {
    const run = this.#runs.get(id);
    if (born !== undefined && run?.born !== born) return false;
    if (run === undefined) return false;
    const known = run.attempts.get(attemptName(begin));
    const isWhole = known?.nonce === begin.nonce && (end === undefined || known.result !== undefined);
    if (known !== undefined && isWhole) return known.putBack === this.#life;
    run.lost = true;
    if (known === undefined) {
      run.attempts.set(attemptName(begin), {
        ...begin,
        ...{ result: undefined, at: this.#clock.now(), byRecovery: false, isLate: false, untaken: false, version: 0 },
      });
      const part = run.parts.get(partName(begin));
      if (part !== undefined) Object.assign(part, { state: 'under-way', owner: worker, attempt: begin.attempt });
    }
    const putBack = run.attempts.get(attemptName(begin));
    if (putBack?.nonce === begin.nonce) putBack.putBack = this.#life;
    if (end !== undefined) this.#end(run, { worker, run: id, step: begin.step }, end);
    return true;
  }
}

const GRACE_MS = 30_000;

function forget(run: Run, attempt: Attempt): void {
  run.attempts.delete(attemptName(attempt));
  const part = run.parts.get(partName(attempt));
  if (part === undefined) return;
  part.attempt = attempt.attempt - 1;
  part.state = part.owner === undefined ? 'open' : 'claimed';
  if (attempt.result?.kind !== 'split') return;
  for (const half of ['0', '1']) run.parts.delete(partName({ ...attempt, part: `${attempt.part}${half}` }));
}

function isInDoubt(result: Result): boolean {
  return result.kind === 'settled' && result.outcomes.verdicts.every(({ status }) => status === 'in-doubt');
}

function byPlan(one: RequestKey, other: RequestKey): number {
  return one.request - other.request || (one.part < other.part ? -1 : 1);
}

function partName({ step, request, part }: RequestKey): string {
  return `${step}/${request}/${part}`;
}

function attemptName(key: AttemptKey): string {
  return `${partName(key)}/${key.attempt}`;
}
