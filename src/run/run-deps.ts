import type { Limits } from '../job/job.js';
import type { JournalEntry } from '../journal/entry-format.js';
import type { Clock } from '../ports/clock.js';
import type { LogFields } from '../ports/log.js';
import type { Authorize } from '../service/authorize.js';
import type { Transport } from '../service/transport.js';
import type { Files } from '../storage/files.js';
import type { Owner } from '../storage/lock-file.js';

/** Everything that a run reaches outside of itself. */
export interface RunDeps {
  readonly files: Files;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly transport: Transport;
  /** The headers that authenticate a call. */
  readonly authorize: Authorize;
  readonly createLane: (options: LaneOptions) => Lane;
  readonly owner: Owner;
  /** How often the journal gets a snapshot; by default as the journal has it. */
  readonly snapshotEveryBytes?: number | undefined;
  readonly onProgress: (progress: Progress) => void;
  /** One sentence that a person should know, and what a machine may look for; no number of a person. */
  readonly onNotice: (notice: string, fields?: LogFields) => void;
}

/** Appends durably, and tells the run's state. */
export interface Journal {
  append(entry: JournalEntry): Promise<void>;
}

export interface LaneOptions {
  readonly limits: Limits;
  /** How long ago the run last sent, in a process before this one; undefined when it never did. */
  readonly lastSentMsAgo: number | undefined;
  /** Once it aborts, the lane rejects what has not passed the gate, and nothing else. */
  readonly signal: AbortSignal;
}

/**
 * Resolves when a request may leave at once. `preSendCheck` is called when its turn has come, however long it waited for that
 * (a Retry-After may be minutes); where it rejects so does the gate, and nothing may leave.
 */
export type PassGate = (preSendCheck: () => Promise<void>) => Promise<ReportConnectDelay | undefined>;

/** Is told that a request left so much later than it passed, since its connection had to be made first: it counts from then on. */
export type ReportConnectDelay = (connectDelayMs: number) => void;

/** One rate-limited path to the service; `throttle/` builds it. */
export interface Lane {
  /** Runs the task when the limits allow it. The task awaits the gate at once before its first byte leaves. */
  run<T>(cost: Cost, task: (gate: PassGate) => Promise<T>): Promise<T>;
  /** Nothing is sent for at least so long. */
  pauseFor(delayMs: number): void;
  slowDown(): void;
  noteSuccess(): void;
  close(): void | Promise<void>;
}

export interface Cost {
  readonly messages: number;
  readonly segments: number;
}

export interface Progress {
  readonly step: number;
  readonly kind: string;
  readonly rows: number;
  readonly settled: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly inDoubt: number;
}
