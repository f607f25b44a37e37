import type { Problem } from '../domain/errors.js';
import { accountOfKind } from '../plan/format/account-of.js';
import type { Plan } from '../plan/format/plan-file.js';
import { isSameOccurrence } from '../plan/occurrence.js';
import type { Identity } from '../storage/identity.js';
import { type ClaimScope, Claims } from './claims.js';
import type {
  AbandonedEntry,
  ApprovedEntry,
  BegunEntry,
  EndedEntry,
  PrunedEntry,
  RegistryEntry,
} from './registry-entry.js';

/** A run as the registry knows it. */
export interface KnownRun {
  readonly begun: BegunEntry;
  readonly ended: EndedEntry | undefined;
  /** Where it is now; undefined where a person adopted a directory without it. */
  readonly directory: Identity | undefined;
  /** Undefined: it is to begin anew. */
  readonly journal: Identity | undefined;
}

/** The job's memory, as all entries of its registry tell it. Pure. */
export class RegistryState {
  readonly claims = new Claims();
  readonly #runs = new Map<string, KnownRun>();
  readonly #abandoned = new Map<string, AbandonedEntry>();
  readonly #approvals = new Map<string, ApprovedEntry[]>();
  readonly #pruned = new Map<string, PrunedEntry>();
  #version = 0;
  #registry: Identity | undefined;
  #directory: Identity | undefined;

  get registry(): Identity | undefined {
    return this.#registry;
  }

  get directory(): Identity | undefined {
    return this.#directory;
  }

  /** Of the format; 0: there is no registry yet. */
  get version(): number {
    return this.#version;
  }

  get runs(): ReadonlyMap<string, KnownRun> {
    return this.#runs;
  }

  /** Plans that never send again, by their ids; also those that were never begun. */
  get abandoned(): ReadonlyMap<string, AbandonedEntry> {
    return this.#abandoned;
  }

  /** By the ids of their plans, in the order in which they were given; also those that do not count. */
  get approvals(): ReadonlyMap<string, readonly ApprovedEntry[]> {
    return this.#approvals;
  }

  /** Plans whose rows are deleted, or are about to be, by their ids; also those that were never begun. */
  get pruned(): ReadonlyMap<string, PrunedEntry> {
    return this.#pruned;
  }

  apply(entry: RegistryEntry): void {
    if (entry.type === 'begun') {
      const { directory, journal } = entry;
      this.#runs.set(entry.plan, { begun: entry, ended: undefined, directory, journal });
      return;
    }
    if (entry.type === 'ended') {
      const run = this.#runs.get(entry.plan);
      if (run !== undefined) this.#runs.set(entry.plan, { ...run, ended: entry });
      return;
    }
    if (entry.type === 'pruned') {
      this.#pruned.set(entry.plan, entry);
      return;
    }
    if (entry.type === 'approved') {
      this.#approvals.set(entry.plan, [...(this.#approvals.get(entry.plan) ?? []), entry]);
      return;
    }
    if (entry.type === 'abandoned') {
      this.#abandoned.set(entry.plan, entry);
      // It never sends them, and no retry can have them from a plan that was not begun: they are free again.
      if (!this.#runs.has(entry.plan)) this.claims.releaseReimported(entry.plan);
      return;
    }
    if (entry.type === 'claimed') {
      this.claims.apply(entry);
      return;
    }
    this.#registry = entry.registry;
    this.#directory = entry.directory;
    if (entry.type === 'made') {
      this.#version = entry.version;
      return;
    }
    for (const { plan, directory, journal } of entry.runs) {
      const run = this.#runs.get(plan);
      if (run === undefined) continue;
      this.#runs.set(plan, { ...run, directory: directory ?? undefined, journal: journal ?? undefined });
    }
  }

  /** Runs that have not come to their end, and still may, in the order in which they began. A test does not keep the job from going on. */
  listUnfinished(): KnownRun[] {
    return [...this.#runs.values()].filter(
      ({ begun, ended, directory }) =>
        begun.testOf === undefined &&
        ended?.state !== 'finished' &&
        directory !== undefined &&
        !this.#abandoned.has(begun.plan),
    );
  }

  /** All that is known of one plan, in an order in which it can be applied again. */
  entriesOf(plan: string): RegistryEntry[] {
    const { begun, ended } = this.#runs.get(plan) ?? {};
    const approved = this.#approvals.get(plan) ?? [];
    const ends = [this.#abandoned.get(plan), this.#pruned.get(plan)];
    return [begun, ended, ...this.claims.entriesOf(plan), ...approved, ...ends].filter((entry) => entry !== undefined);
  }

  /** Tests of a plan, in the order in which they began. */
  listTests(plan: string): KnownRun[] {
    return [...this.#runs.values()].filter(({ begun }) => begun.testOf?.plan === plan);
  }

  /** Ids of the runs that took a file, by its bytes or by its rows, in the order in which they began. */
  listTakers(kind: string, digest: string, { account, occurrence }: ClaimScope): string[] {
    return [...this.#runs.values()].flatMap(({ begun }) => {
      if (begun.retryOf !== null) return [];
      if (occurrence !== '' && !isSameOccurrence(begun.occurrence, occurrence)) return [];
      const isTaken = begun.files.some(
        (file) => file.kind === kind && file.account === account && (file.content === digest || file.rows === digest),
      );
      return isTaken ? [begun.plan] : [];
    });
  }
}

/**
 * Files of a plan that another run took after it was made: they would be sent twice. None of a plan that was begun, which took them
 * itself; a retry and a test take none. Pure.
 */
export function listTakenFiles(
  registry: RegistryState,
  { id, job, occurrence, steps, retryOf, testOf }: Plan,
): Problem[] {
  if (retryOf !== undefined || testOf !== undefined || registry.runs.has(id)) return [];
  return steps.flatMap(({ kind, inputs }) => {
    const scope = { account: accountOfKind(job, kind), occurrence };
    return inputs.flatMap(({ file, contentSha256, rowsSha256 }): Problem[] => {
      const digests = rowsSha256 === undefined ? [contentSha256] : [contentSha256, rowsSha256];
      const [run] = digests.flatMap((digest) => registry.listTakers(kind, digest, scope).slice(-1));
      return run === undefined ? [] : [{ where: file, message: `was taken by run ${run} since the plan was made` }];
    });
  });
}
