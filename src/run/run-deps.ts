import type { Area } from '../domain/areas.js';
import type { NotSent } from '../domain/row.js';
import type { JournalEntry } from '../journal/entry-format.js';
import type { Clock } from '../ports/clock.js';
import type { LogFields } from '../ports/log.js';
import type { Authorize } from '../service/service-secrets.js';
import type { Transport } from '../service/transport.js';
import type { Files } from '../storage/files.js';
import type { Owner } from '../storage/lock-file.js';
import type { Lane, LaneOptions } from '../throttle/lane.js';

/** The ports of a run. */
export interface RunDeps {
  readonly files: Files;
  readonly clock: Clock;
  readonly random: () => number;
  readonly transport: Transport;
  readonly authorize: Authorize;
  readonly createLane: (options: RunLaneOptions) => Lane;
  readonly owner: Owner;
  /** Absent where nothing can forbid what was planned. */
  readonly withholding?: Withholding | undefined;
  readonly onProgress: (progress: Progress) => void;
  /** For metrics: each attempt to send a request with rows. */
  readonly onAttempt?: ((attempt: AttemptNote) => void) | undefined;
  /** One sentence for people, with fields for machines; no phone number. */
  readonly onNotice: (notice: string, fields?: LogFields) => void;
}

/**
 * What takes planned rows out of a run: it is asked before the intent of each request, and again at its turn at the
 * gate. It can only withhold rows, never add any.
 */
export interface Withholding {
  /** Looks again at what may have changed. Rejects where that cannot be known: then nothing is sent. */
  refresh(): Promise<void>;
  /** Another one where `find` may answer otherwise than before. */
  readonly version: number;
  /** Why a step sends nothing to a number, as of the last `refresh`; undefined where it may. */
  find(asked: AskedNumber): NotSent | undefined;
}

export interface AskedNumber {
  readonly step: number;
  readonly number: number;
  /** The digest of what it would get, where that is a text. */
  readonly textOf?: (() => number) | undefined;
}

/** The journal of a run; what is appended is durable once `append` resolves. */
export interface Journal {
  append(entry: JournalEntry): Promise<void>;
}

/** What a run says of a lane; it always knows when it last sent, and can always be stopped. */
export interface RunLaneOptions extends Omit<LaneOptions, 'clock' | 'random'> {
  readonly area: Area;
  readonly lastSentMsAgo: number | undefined;
  readonly signal: AbortSignal;
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

/** How an attempt ended. */
export interface AttemptNote {
  readonly step: number;
  readonly kind: string;
  /** Whether the breaker of the step is open then. */
  readonly isBreakerOpen: boolean;
}
