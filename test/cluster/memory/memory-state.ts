import { type AttemptKey, type LeadKey, LeadLost, type OpenStep } from '../../../src/cluster/store.js';
import type { PartResult, RequestKey } from '../../../src/journal/entry-format.js';
import type { RequestHead } from '../../../src/plan/format/plan-file.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { LaneRow } from './lane-rule.js';

export interface Part extends RequestKey {
  readonly rows: readonly [number, number];
  readonly head: RequestHead;
  readonly body: Buffer;
  state: 'open' | 'claimed' | 'under-way' | 'done';
  owner: string | undefined;
  attempt: number;
  isInFlight: boolean;
}

export interface Attempt extends RequestKey {
  readonly attempt: number;
  readonly nonce: string;
  result: PartResult | undefined;
  at: number;
  byRecovery: boolean;
  untaken: boolean;
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
  /** Of its leader. */
  leaseMs: number;
  leaseUntil: number;
  life: string;
  lost: boolean;
  stop: { reason: string; detail: string } | undefined;
  readonly parts: Map<string, Part>;
  readonly attempts: Map<string, Attempt>;
  withdrawn: Part[];
}

export interface Worker {
  goneAt?: number;
  leaseUntil: number;
  life: string;
  calls: number;
  seenAt: number;
}

export const REMEMBERED_MS = 600_000;

/** The tables of the store in memory, and what several of its calls ask of them. */
export class MemoryState {
  readonly clock: Clock;
  readonly runs = new Map<string, Run>();
  readonly workers = new Map<string, Worker>();
  readonly lanes = new Map<string, LaneRow>();
  life = 'life-1';
  lifeFrom = Number.NEGATIVE_INFINITY;
  births = 0;
  /** Since then commits of a life before may be lost. */
  promotedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  led({ run, epoch }: LeadKey): Run {
    const found = this.runs.get(run);
    if (found === undefined || found.epoch !== epoch) throw new LeadLost(`another process leads run ${run}`);
    return found;
  }

  isWorking(run: Run, { worker, step }: { worker: string; step: number }): boolean {
    const isOpen = this.isClaimable(run) && run.step?.step === step;
    return isOpen && this.isAlive(worker) && this.workers.get(worker)?.life === this.life;
  }

  isClaimable({ isOpen, leaseMs, leaseUntil, stop, lost, life }: Run): boolean {
    const leftMs = leaseUntil - this.clock.now();
    return isOpen && leftMs > 0 && leftMs <= leaseMs && stop === undefined && !lost && life === this.life;
  }

  isAlive(worker: string | undefined): boolean {
    return (this.workers.get(worker ?? '')?.leaseUntil ?? 0) > this.clock.now();
  }
}

export function partName({ step, request, part }: RequestKey): string {
  return `${step}/${request}/${part}`;
}

export function attemptName(key: AttemptKey): string {
  return `${partName(key)}/${key.attempt}`;
}
