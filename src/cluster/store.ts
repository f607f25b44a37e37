import { ServiceError } from '../domain/errors.js';
import type { PartResult, RequestKey, Stop } from '../journal/entry-format.js';
import type { RequestHead } from '../plan/format/plan-file.js';

/**
 * What leader and workers share: the requests of a run, who has claimed them, what came of them, and the lanes. PostgreSQL
 * holds it (postgres/); tests hold it in memory.
 *
 *   part:  open ─claim→ claimed ─begin→ under way ─end: again→ claimed
 *                                                  ─end: split→ done, and its two halves claimed by the same worker
 *                                                  ─end: settled→ done
 *   The worker's lease ends: claimed → open; under way → what the step's `onLost` says.
 *
 * Every method may be repeated: it throws `StoreLost` when the connection broke, and then the call may have taken
 * effect. A repeated call with the same arguments has no further effect, and gives the same answer. Only a repeated
 * `book` may waste a turn.
 *
 * Times are the store's own clock: those of workers may be wrong.
 */
export interface Store extends LeaderStore, WorkerStore, LaneStore {
  readServer(): Promise<ServerMoment>;
  /** Shows people that a process stands by for a job: to be said again every few seconds. */
  standBy(process: string, job: string): Promise<void>;
  close(): Promise<void>;
}

export interface ServerMoment {
  /** This life of the server: differs after a restart, a promotion of a standby, and a restored backup. */
  readonly life: string;
  /** The time of its clock, since 1970. */
  readonly atMs: number;
  /** It says that a commit is done once a standby has it. */
  readonly isSynchronous: boolean;
}

/** The connection broke: the call may or may not have taken effect. */
export class StoreLost extends ServiceError {
  constructor(message: string) {
    super('unavailable', message, {
      hint: 'Nothing is sent without it: check that it runs, and its URL with user and password. Once it answers, the same command continues.',
    });
  }
}

/** Who leads a run: a leader of a higher epoch has taken its place. Then every method of the leader throws `LeadLost`. */
export interface LeadKey {
  readonly run: string;
  /** The epoch of the job's lock. */
  readonly epoch: number;
}

export interface NewLead {
  readonly job: string;
  /** What its workers must agree on (work-on-run.ts). */
  readonly digest: string;
  /** Random, of the process: in two directories of one job, two may have the same epoch. The first of them leads. */
  readonly leader: string;
}

export class LeadLost extends Error {
  override readonly name = 'LeadLost';
}

export interface AttemptKey extends RequestKey {
  /** Counts the attempts of a part from 1. */
  readonly attempt: number;
}

/** What a request becomes whose worker was lost between `begin` and `end`. */
export type OnLost =
  /** It may be repeated: open again. */
  | 'again'
  /** The service can be asked: open again, `isInFlight`. */
  | 'query'
  /** Its rows are in doubt. */
  | 'in-doubt';

export interface HandedPart extends RequestKey {
  /** Planned rows of the step: index of the first, and how many. */
  readonly rows: readonly [first: number, count: number];
  readonly head: RequestHead;
  /** The body of the whole request, as planned. */
  readonly body: Buffer;
  /** An earlier process sent it and knows no outcome; the service is asked. Its next attempt is begun with it, under a nonce of the store. */
  readonly isInFlight: boolean;
}

export interface LedPart extends RequestKey {
  readonly state: 'open' | 'claimed' | 'under-way' | 'done';
  /** Done, and a leader has said that its journal has the outcome. */
  readonly isTaken: boolean;
}

export interface OpenStep {
  readonly step: number;
  readonly provisionedIds: readonly string[];
  readonly onLost: OnLost;
}

/** What ended since the leader last took it. An `again` is there until the next attempt begins. */
export interface EndedAttempt extends RequestKey {
  /** Its place in the order of all ends, in which a split comes before what its halves became. */
  readonly order: number;
  readonly rows: readonly [first: number, count: number];
  readonly result: PartResult;
  readonly at: number;
}

export interface RunNews extends Omit<ServerMoment, 'atMs'> {
  readonly ended: readonly EndedAttempt[];
  /** The step whose parts workers may claim. */
  readonly openStep: number | undefined;
  /** `confirmLife` would say `same`. */
  readonly isConfirmed: boolean;
  /** Workers with a lease, that have claimed parts of this run, or may. */
  readonly workers: number;
  /** Why a worker wants the run to stop; undefined where none does. */
  readonly stop: Stop | undefined;
}

export interface LedRun {
  readonly born: string;
  readonly isNew: boolean;
  readonly isNewLife: boolean;
  readonly parts: readonly LedPart[];
}

interface LeaderStore {
  /**
   * Becomes the leader of a run, or takes over from one of a lower epoch.
   * `isNew`: the store did not know the run. `isNewLife`: the server has another life than the one last confirmed.
   * `born`: as in `WorkingRun`. Nothing is claimed until `openStep`. What asked the leader before to stop is over.
   */
  lead(key: LeadKey, lead: NewLead): Promise<LedRun>;
  /** Lets parts of this step be claimed, in this life of the server, while the lease of the leader lasts. */
  openStep(key: LeadKey, step: OpenStep): Promise<void>;
  /** A part that is there stays as it is. */
  handOver(key: LeadKey, parts: readonly HandedPart[]): Promise<void>;
  /**
   * The leader is there, whether or not a step is open: for so long from `seenAtMs` on, the last moment of the store's clock that it has seen,
   * so that a call that arrives late is no sign of life. With 0 it leaves.
   */
  renewLead(key: LeadKey, lease: { readonly leaseMs: number; readonly seenAtMs: number }): Promise<void>;
  /** `taken`: places of what its journal has since the last call; bodies of requests whose parts are all done are deleted with it. */
  readNews(key: LeadKey, ask: { readonly limit: number; readonly taken?: readonly number[] }): Promise<RunNews>;
  /**
   * Deletes those of these parts that no worker has begun, and returns them: they were not sent since they were handed over, or ended
   * `again`. Of one `isInFlight` no one knows what came of it: it is returned, and stays. In a life that is not confirmed a worker may have
   * sent what this server takes for open: nothing is taken back.
   */
  takeBack(
    key: LeadKey,
    parts: readonly RequestKey[],
  ): Promise<readonly (RequestKey & Pick<HandedPart, 'isInFlight'>)[]>;
  /**
   * Says whether the run may go on in this life of the server: `waiting` while a worker that may know of a lost call
   * has not checked in; `lost` when one knew of some, or when commits may be lost and a worker that was at work of
   * late has not come again; `same` also makes the step claimable again. `sawSynchronous`: `isSynchronous` of the life before, as this
   * leader last saw it; undefined where it has seen none.
   */
  confirmLife(key: LeadKey, sawSynchronous?: boolean | undefined): Promise<'same' | 'waiting' | 'lost'>;
  /** Deletes all that belongs to the run. */
  drop(key: LeadKey): Promise<void>;
}

/** One run, or those of a job; all where it names neither. */
export interface RunFilter {
  readonly run?: string;
  readonly job?: string;
}

/** A run as workers find it, with the epoch of its leader. */
export interface WorkingRun extends LeadKey {
  /** Names the run in this store; changes when the run is dropped and led again, which attempts of before do not concern. */
  readonly born: string;
  readonly digest: string;
  /** Parts of its step may be claimed: what stands below is known. */
  readonly isOpen: boolean;
  readonly step: number;
  readonly provisionedIds: readonly string[];
}

export interface ClaimedPart extends HandedPart {
  /** Attempts so far. */
  readonly attempt: number;
  /** The nonce of the attempt under way, where `isInFlight`. */
  readonly nonce: string | undefined;
}

export type WorkerEntry = BeginEntry | EndEntry;

/** Durable before the first byte leaves. The key of an attempt is the fence: there is one begin for it, ever. */
export interface BeginEntry extends AttemptKey {
  readonly type: 'begin';
  /** Random, never used twice: tells this process's own begin from another's after a lost reply. */
  readonly nonce: string;
}

export interface EndEntry extends AttemptKey {
  readonly type: 'end';
  readonly nonce: string;
  readonly result: PartResult;
  /** The halves of the request, where the result is `split`. */
  readonly halves: readonly { readonly part: string; readonly rows: readonly [first: number, count: number] }[];
}

export interface WorkerKey extends LeadKey {
  /** Random; of one process, and of one lease. */
  readonly worker: string;
  readonly step: number;
}

/** What a process knows to be in the store, whatever happens to its server: by what it knew once it knew of the life of now. */
export interface SentCalls {
  /** The last call of `append` that was acknowledged, under each of its leases of the last minutes. */
  readonly calls: readonly { readonly worker: string; readonly call: number }[];
  /** `born` of the runs that it worked on. */
  readonly births: readonly string[];
}

interface WorkerStore {
  /**
   * Registers a worker, or renews its lease. `name` is for people: host and process. `isAlive`: false once the lease had ended; the
   * worker must begin anew under another id. `life`: of the server, as the process knows it. Where it is that life still, the process
   * checks in with what it `sent`, which is to be said once in each life: where a call that was acknowledged is not there, commits are
   * lost, and the runs of the process are led by no one any more. In any other life the worker begins nothing before that.
   */
  beat(
    worker: string,
    about: {
      readonly name: string;
      readonly leaseMs: number;
      readonly life: string | undefined;
      readonly sent: SentCalls | undefined;
    },
  ): Promise<{ readonly isAlive: boolean; readonly life: string }>;
  /** A run to work on, if possible one with parts that no worker has claimed; else any that is there. */
  findRun(filter: RunFilter): Promise<WorkingRun | undefined>;
  /**
   * Claims open parts in the order of the plan, so that the worker holds those that it says it does and `count` more;
   * first those that it owns without knowing (a lost reply). `isOpen`: the step may still have parts for this worker, under the
   * leader of that epoch: another one may have another job, with other limits.
   */
  claim(
    key: WorkerKey,
    ask: { readonly count: number; readonly holding: readonly RequestKey[] },
  ): Promise<{ readonly parts: readonly ClaimedPart[]; readonly isOpen: boolean }>;
  /**
   * Applies entries in their order, durably, each by itself. `refused`: the indexes of begins that must not be sent,
   * because the lease of the worker or of the leader has ended, the part is not this worker's, its step is closed, the server has
   * a new life, or the attempt was begun before. The end of an attempt with another nonce, or with an outcome, has no effect.
   * `call` counts the calls of a process. `life`: of the server, in which it counts; '' where the worker has not checked in.
   */
  append(
    key: WorkerKey,
    entries: readonly WorkerEntry[],
    call: number,
  ): Promise<{ readonly refused: readonly number[]; readonly life: string }>;
  /** Takes back what workers hold whose lease has ended; any process may call it. With one that leaves: what that holds, its lease ends. */
  recover(leaving?: string): Promise<void>;
  /** The run should stop, for every worker, if it still has the leader of that epoch. The first reason counts. */
  askToStop(key: LeadKey, stop: Stop): Promise<void>;
}

export interface TurnsAsked {
  /** The cost of each turn, in milliseconds of a lane without slowdown; none to say something alone. */
  readonly costsMs: readonly number[];
  /** How many of the first have their intents already: those take a turn however far ahead it is. */
  readonly urgent: number;
  /** What the process needs: it knows the store's clock only so well. */
  readonly slackMs: number;
  /** How far ahead a turn must be: an earlier one would be too soon for the process. */
  readonly leadMs: number;
  /** The service refused a request for its rate since the last call. */
  readonly slowed: boolean;
  readonly succeeded: boolean;
  /** The lowest share of the limits. */
  readonly leastShare: number;
  /** The service asks for a pause of this long; 0 for none. */
  readonly pauseMs: number;
}

export interface BookedTurns {
  /** The store's clock at the call. */
  readonly nowMs: number;
  /** Milliseconds from `nowMs` to each turn that was booked, in order; maybe none. */
  readonly inMs: readonly number[];
  /** The slack of these turns: at least what was asked for. */
  readonly slackMs: number;
  /** When to ask again for those that were not booked. */
  readonly againInMs: number;
  readonly share: number;
}

export interface LaneStore {
  /** Books turns on a lane, or says when to ask again (postgres/schema/lane-functions.ts). */
  book(lane: string, ask: TurnsAsked): Promise<BookedTurns>;
}

export function nameOfPart({ step, request, part }: RequestKey): string {
  return `${step}/${request}/${part}`;
}
