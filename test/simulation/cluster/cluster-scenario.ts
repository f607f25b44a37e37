import type { Random } from '../../../src/sandbox/random.js';
import type { Mishap } from '../../world/process.js';
import { createMishap, createScenario, pick, type Scenario } from '../scenario.js';

/** What happens to the database, or to the ways of a process, so long after a leader's start. */
export type DatabaseMishap =
  /** It answers no one for a time; with `restart`, it has another life then. */
  | { readonly kind: 'outage' | 'restart'; readonly atMs: number; readonly forMs: number }
  /** One process reaches it, or the service, no more for a time. */
  | {
      readonly kind: 'partition' | 'no-service';
      readonly atMs: number;
      readonly forMs: number;
      readonly process: number;
    }
  /** After an outage a standby takes its place that lacks the last commits. */
  | { readonly kind: 'promotion'; readonly atMs: number; readonly forMs: number; readonly lagMs: number };

/** What happens to a worker, by its operations or at a time of its life. */
export type WorkerMishap = Mishap | { readonly kind: 'kill' | 'stop' | 'signal'; readonly afterMs: number };

/** Shares of calls, from 0 to 1. */
export type CallFaults = Readonly<{ lostBefore: number; lostAfter: number; slow: number }>;

export const NO_CALL_FAULTS: CallFaults = { lostBefore: 0, lostAfter: 0, slow: 0 };

export interface ClusterScenario {
  readonly base: Scenario;
  readonly leaseSeconds: number;
  /** Of each worker, how far its wall clock is ahead. */
  readonly workerSkewsMs: readonly number[];
  readonly databaseSkewMs: number;
  /** Of workers, one after the other, for the worker that starts next; then none. */
  readonly workerMishaps: readonly (WorkerMishap | undefined)[];
  /** Of each life of a leader. */
  readonly databaseMishaps: readonly (readonly DatabaseMishap[])[];
  readonly callFaults: CallFaults;
}

const HOUR_MS = 3_600_000;
const KINDS: readonly DatabaseMishap['kind'][] = [
  'outage',
  'restart',
  'partition',
  'partition',
  'promotion',
  'no-service',
];

export function createClusterScenario(random: Random): ClusterScenario {
  const sendHere = random() < 0.5;
  const leaseSeconds = random() < 0.7 ? 15 : 30;
  const perSecond = 4 + pick(random, 40);
  const base = createScenario(random, {
    most: 50,
    written: { cluster: { database: { env: 'VOLLEY_DATABASE_URL' }, sendHere, leaseSeconds } },
    limits: () => ({ requestsPerSecond: Math.max(1, perSecond) }),
  });
  const workers = (sendHere ? 0 : 1) + pick(random, 4);
  const isSkewed = random() < 0.4;
  const skewMs = () => (isSkewed ? Math.round((random() * 2 - 1) * HOUR_MS) : 0);
  const isDisturbed = random() < 0.6;
  const scenario: ClusterScenario = {
    base,
    leaseSeconds,
    workerSkewsMs: Array.from({ length: workers }, skewMs),
    databaseSkewMs: skewMs(),
    workerMishaps: Array.from({ length: random() < 0.5 ? pick(random, 8) : 0 }, () => createWorkerMishap(random)),
    databaseMishaps: [...base.mishaps, undefined].map(() =>
      Array.from({ length: isDisturbed ? pick(random, 3) : 0 }, () => createDatabaseMishap(random)),
    ),
    callFaults:
      random() < 0.5
        ? { lostBefore: random() * 0.04, lostAfter: random() * 0.04, slow: random() * 0.05 }
        : NO_CALL_FAULTS,
  };
  if (random() < 0.5) return scenario;
  const rival = {
    ...{ isOnSameHost: random() < 0.3, delayMs: random() * 2_000 },
    mishap: random() < 0.4 ? createMishap(random) : undefined,
    standsBy: true,
  };
  return { ...scenario, base: { ...base, rival } };
}

function createWorkerMishap(random: Random): WorkerMishap | undefined {
  const mishap = createMishap(random);
  if (mishap === undefined || random() < 0.5) return mishap;
  const kind = (['kill', 'stop', 'signal'] as const)[pick(random, 3)] ?? 'kill';
  return { kind, afterMs: random() * 8_000 };
}

function createDatabaseMishap(random: Random): DatabaseMishap {
  const kind = KINDS[pick(random, KINDS.length)] ?? 'outage';
  // Around the time in which a small job is sent; some beyond every lease.
  const mishap = { atMs: random() * 9_000, forMs: random() < 0.6 ? random() * 3_000 : random() * 50_000 };
  if (kind === 'promotion') return { ...mishap, kind, lagMs: random() * 1_500 };
  if (kind === 'outage' || kind === 'restart') return { ...mishap, kind };
  return { ...mishap, kind, process: pick(random, 5) };
}
