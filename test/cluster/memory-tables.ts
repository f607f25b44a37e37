import {
  type HandedPart,
  nameOfPart,
  type OpenStep,
  type SentCalls,
  type Store,
  type WorkerEntry,
  type WorkerKey,
} from '../../src/cluster/store.js';
import type { PartResult, Stop } from '../../src/journal/entry-format.js';
import { sameVerdictForAll } from '../../src/kinds/outcomes.js';
import type { Clock } from '../../src/ports/clock.js';
import { RUN_ENDED } from '../../src/registry/append-to-run.js';
import type { LaneRow } from './lane-rule.js';

/** A part, and what is known of its last attempt, as a row of `volley.part`. */
export interface Part extends HandedPart {
  state: 'open' | 'claimed' | 'under-way' | 'done';
  owner: string | undefined;
  attempt: number;
  isInFlight: boolean;
  nonce: string | undefined;
  result: PartResult | undefined;
  /** The place of the result in the order of all; undefined once the leader has it. */
  ended: number | undefined;
  at: number;
  isOfLostWorker: boolean;
}

export interface Run {
  readonly born: string;
  /** The last promotion that its leader has confirmed. */
  promotedAt: number;
  epoch: number;
  leader: string;
  job: string;
  digest: string;
  step: OpenStep | undefined;
  isOpen: boolean;
  leaseMs: number;
  leaseUntil: number;
  life: string;
  hasLost: boolean;
  stop: Stop | undefined;
  readonly parts: Map<string, Part>;
}

export interface Worker {
  leaseMs: number;
  leaseUntil: number;
  seenAt: number;
  goneAt: number | undefined;
  life: string;
  calls: number;
}

/** The tables of the store in memory, and what workers do with them: the rules are those of postgres/schema. */
export class MemoryTables {
  protected runs = new Map<string, Run>();
  protected workers = new Map<string, Worker>();
  protected lanes = new Map<string, LaneRow>();
  protected readonly clock: Clock;
  protected life = 'life-1';
  /** Since then commits of a life before may be lost. */
  protected promotedAt = Number.NEGATIVE_INFINITY;
  protected counted = 1;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  protected beat(...[worker, { leaseMs, life, sent }]: Parameters<Store['beat']>) {
    const now = this.clock.now();
    const isOfNow = life === this.life;
    const unknown = { life: isOfNow ? life : '', calls: 0, goneAt: undefined, leaseUntil: now + leaseMs };
    const known = this.workers.get(worker) ?? unknown;
    const isAlive = known.goneAt === undefined && known.leaseUntil > now;
    if (isAlive) this.workers.set(worker, { ...known, leaseMs, leaseUntil: now + leaseMs, seenAt: now });
    if (isOfNow && sent !== undefined) this.#checkIn(life, sent);
    return { isAlive, life: this.life };
  }

  protected findRun({ run: wanted, job }: Parameters<Store['findRun']>[0]) {
    const found = [...this.runs].filter(([id, run]) => id === (wanted ?? id) && run.job === (job ?? run.job));
    const claimable = found.filter(([, run]) => this.isClaimable(run, run.step?.step));
    const hasOpen = ({ step, parts }: Run) =>
      [...parts.values()].some((part) => part.step === step?.step && part.state === 'open');
    const [id = '', run] = claimable.find(([, one]) => hasOpen(one)) ?? claimable[0] ?? found[0] ?? [];
    if (run === undefined) return undefined;
    const { born, epoch, digest } = run;
    const { step = 0, provisionedIds = [] } = run.step ?? {};
    return { run: id, born, epoch, digest, isOpen: claimable.length > 0, step, provisionedIds };
  }

  protected claim(...[{ worker, run: id, step, epoch }, { count, holding }]: Parameters<Store['claim']>) {
    const run = this.runs.get(id);
    const isLed = run !== undefined && run.epoch === epoch;
    if (!isLed || !this.isClaimable(run, step) || !this.hasLease(worker, this.life))
      return { parts: [], isOpen: false };
    const held = new Set(holding.map(nameOfPart));
    const ofStep = inOrder(run.parts).filter((part) => part.step === step);
    const unknown = ofStep.filter(
      (part) => part.state === 'claimed' && part.owner === worker && !held.has(nameOfPart(part)),
    );
    const claimed = [...unknown, ...ofStep.filter(({ state }) => state === 'open')].slice(0, count);
    const parts = claimed.map((one) => {
      Object.assign(one, { state: 'claimed', owner: worker });
      const { request, part, rows, head, body, attempt, isInFlight } = one;
      const nonce = isInFlight ? one.nonce : undefined;
      return { step, request, part, rows, head, body: Buffer.from(body), attempt, isInFlight, nonce };
    });
    return { parts, isOpen: true };
  }

  protected append(...[key, entries, number]: Parameters<Store['append']>) {
    const worker = this.workers.get(key.worker);
    const counts = worker?.life === this.life;
    if (counts) worker.calls = Math.max(worker.calls, number);
    const refused = entries.flatMap((entry, index) => (this.#write(key, entry) ? [] : [index]));
    return { refused, life: counts ? this.life : '' };
  }

  /** False: refused. */
  #write(key: WorkerKey, entry: WorkerEntry): boolean {
    const run = this.runs.get(key.run);
    const part = run?.parts.get(nameOfPart({ ...entry, step: key.step }));
    if (run === undefined || part === undefined) return entry.type === 'end';
    const isItsOwn = part.nonce === entry.nonce && part.attempt === entry.attempt;
    if (entry.type === 'begin') return this.#begin(key, run, { part, entry, isItsOwn });
    if (!isItsOwn || part.result !== undefined) return true;
    this.end(part, entry.result);
    const state = part.state === 'under-way' ? 'claimed' : part.state;
    Object.assign(part, { isInFlight: false }, entry.result.kind === 'again' ? { state } : DONE);
    for (const { part: half, rows } of entry.halves) {
      const claimed = { ...newPart({ ...part, part: half, rows }, 'claimed'), owner: key.worker };
      if (!run.parts.has(nameOfPart(claimed))) run.parts.set(nameOfPart(claimed), claimed);
    }
    return true;
  }

  #begin(
    { worker, step }: WorkerKey,
    run: Run,
    { part, entry, isItsOwn }: { part: Part; entry: WorkerEntry; isItsOwn: boolean },
  ): boolean {
    if (part.owner !== worker || !this.hasLease(worker)) return false;
    // Repeated after a lost reply.
    if (part.state === 'under-way' && isItsOwn) return true;
    const isNext = part.attempt + 1 === entry.attempt && (part.attempt === 0 || part.result?.kind === 'again');
    const isClaimed = part.state === 'claimed' && this.isClaimable(run, step) && this.hasLease(worker, this.life);
    if (!isNext || !isClaimed) return false;
    const { attempt, nonce } = entry;
    Object.assign(part, { state: 'under-way', attempt, nonce, result: undefined, ended: undefined, isInFlight: false });
    return true;
  }

  protected end(part: Part, result: PartResult, isOfLostWorker = false): void {
    const [ended, at] = [++this.counted, this.clock.now()];
    Object.assign(part, { result, ended, at, isOfLostWorker });
  }

  /** Ends what lost workers had, or one that leaves. */
  protected recover(leaving?: string): void {
    const now = this.clock.now();
    for (const [id, worker] of this.workers)
      if (leaving === undefined ? worker.leaseUntil <= now : id === leaving) worker.goneAt ??= now;
    const all = [...this.runs.values()].flatMap((run) => inOrder(run.parts).map((part) => ({ part, run })));
    const lost = all.filter(({ part }) => this.workers.get(part.owner ?? '')?.goneAt !== undefined);
    for (const { part, run } of lost) {
      if (part.state === 'under-way') this.#endLost(part, part.step === run.step?.step ? run.step.onLost : 'in-doubt');
      else Object.assign(part, OPEN);
    }
  }

  #endLost(part: Part, onLost: OpenStep['onLost']): void {
    Object.assign(part, OPEN);
    if (onLost === 'query') part.isInFlight = true;
    else if (onLost === 'again') this.end(part, LOST_AGAIN, true);
    else {
      this.end(part, { kind: 'settled', outcomes: sameVerdictForAll(part.rows[1], RUN_ENDED) }, true);
      Object.assign(part, DONE);
    }
  }

  #checkIn(life: string, { calls, births }: SentCalls): void {
    const hasLost = calls.some(({ worker, call }) => call > 0 && !((this.workers.get(worker)?.calls ?? 0) >= call));
    for (const run of this.runs.values()) run.hasLost ||= hasLost && births.includes(run.born);
    const now = this.clock.now();
    const unknown = { leaseMs: 0, leaseUntil: Number.NEGATIVE_INFINITY, calls: 0, seenAt: now, goneAt: now };
    for (const { worker, call } of calls) {
      const known = this.workers.get(worker) ?? unknown;
      this.workers.set(worker, { ...known, life, calls: Math.max(known.calls, call) });
    }
  }

  protected isClaimable(
    { isOpen, step, leaseMs, leaseUntil, stop, hasLost, life }: Run,
    of: number | undefined,
  ): boolean {
    const leftMs = leaseUntil - this.clock.now();
    const isLed = leftMs > 0 && leftMs <= leaseMs;
    return isOpen && step?.step === of && isLed && stop === undefined && !hasLost && life === this.life;
  }

  /** `life`: in which it has checked in. */
  protected hasLease(worker: string | undefined, life?: string): boolean {
    const known = this.workers.get(worker ?? '');
    if (known === undefined || known.goneAt !== undefined) return false;
    return known.leaseUntil > this.clock.now() && known.life === (life ?? known.life);
  }
}

const OPEN = { state: 'open', owner: undefined } as const;
const DONE = { state: 'done', owner: undefined } as const;
const LOST_AGAIN: PartResult = { kind: 'again', why: 'the run ended before the answer came' };

function inOrder(parts: Run['parts']): Part[] {
  const byRequest = (one: Part, other: Part) => one.request - other.request || (one.part < other.part ? -1 : 1);
  return [...parts.values()].sort((one, other) => one.step - other.step || byRequest(one, other));
}

export function newPart(part: HandedPart, state: 'open' | 'claimed'): Part {
  const { step, request, rows, head, body, isInFlight } = part;
  const none = { nonce: undefined, result: undefined, ended: undefined, at: 0, isOfLostWorker: false };
  return { step, request, part: part.part, rows, head, body, isInFlight, state, owner: undefined, attempt: 0, ...none };
}
