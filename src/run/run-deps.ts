import type { Area } from '../domain/areas.js';
import type { NotSent } from '../domain/row.js';
import type { Job } from '../job/job.js';
import type { JournalEntry } from '../journal/entry-format.js';
import type { Plan } from '../plan/format/plan-file.js';
import type { Clock } from '../ports/clock.js';
import type { LogFields } from '../ports/log.js';
import type { OpenDoubt, Summary } from '../report/summary.js';
import type { Answer } from '../service/answer.js';
import type { Authorize } from '../service/service-secrets.js';
import type { Transport } from '../service/transport.js';
import type { Files } from '../storage/files.js';
import type { Owner } from '../storage/lock-file.js';
import type { Lane, LaneOptions } from '../throttle/lane.js';

/** The ports of a run. */
export interface RunDeps {
  readonly files: Files;
  readonly clock: Clock;
  /** Draws a number in [0, 1). */
  readonly random: () => number;
  readonly transport: Transport;
  /** The headers that authenticate a call. */
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

/** What happens while a command works on a job, for those who watch: metrics, the hook, a program with a progress of its own. */
export type RunEvent =
  /** First, as soon as the job is known. */
  | { readonly type: 'job'; readonly job: Job }
  /** The command has the job for itself. */
  | { readonly type: 'begin'; readonly jobDirectory: string }
  /** Rows of a step that were read so far. */
  | { readonly type: 'reading'; readonly step: number; readonly rows: number }
  /** A guard refused the plan; nothing of it was sent. */
  | { readonly type: 'guarded'; readonly summary: Summary }
  /** Before anything of a run is sent. */
  | { readonly type: 'run'; readonly directory: string; readonly plan: Plan }
  /** Requests are sent through this lane from now on. */
  | { readonly type: 'lane'; readonly options: RunLaneOptions; readonly lane: Lane }
  | ({ readonly type: 'attempt' } & AttemptNote)
  /** A request of any kind leaves for the service. */
  | { readonly type: 'request'; readonly area: string; readonly answered: Promise<Answered> }
  | { readonly type: 'sent'; readonly progress: Progress }
  /** The database of a job with `cluster` took so long to answer; undefined: it does not answer any more. */
  | { readonly type: 'database'; readonly seconds: number | undefined }
  /** A run has its outputs. */
  | { readonly type: 'report'; readonly summary: Summary }
  /** A run that another process ended while this one stood by. */
  | { readonly type: 'ended-meanwhile'; readonly summary: Summary }
  /** At the end: the rows in doubt of all runs of the job. */
  | { readonly type: 'open-doubt'; readonly openDoubt: OpenDoubt };

export interface Answered {
  readonly answer: Answer;
  readonly seconds: number;
}

/** The transport, with an event for each request. Calls outside of the service, such as to a hook, are none. */
export function watchTransport(transport: Transport, clock: Clock, emit: (event: RunEvent) => unknown): Transport {
  return {
    ...transport,
    send: (call, signal) => {
      const startMs = clock.monotonicMs();
      const answering = transport.send(call, signal);
      if (call.area === undefined) return answering;
      const answered = answering.then((answer) => ({ answer, seconds: (clock.monotonicMs() - startMs) / 1000 }));
      // Who sent it hears of it.
      answered.catch(() => {});
      emit({ type: 'request', area: call.area, answered });
      return answering;
    },
  };
}
