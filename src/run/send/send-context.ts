import type { Area } from '../../domain/areas.js';
import type { StatedTime } from '../../domain/stated-time.js';
import type { JobService, RowStep } from '../../job/job.js';
import type { RequestSize, RunState, StepProgress } from '../../journal/replay.js';
import type { StepKind } from '../../kinds/step-kind.js';
import type { Plan, PlannedStep, RequestHead } from '../../plan/format/plan-file.js';
import type { Clock } from '../../ports/clock.js';
import type { Held, Lock } from '../../storage/lock.js';
import type { Journal, RunDeps, RunLaneOptions } from '../run-deps.js';
import type { StepNotices } from '../run-events.js';
import type { createSendingHours } from '../run-times.js';
import type { StopSwitch } from '../stop.js';
import type { Breaker } from './breaker.js';
import type { PartToSend } from './request-reader.js';

/** What sending the requests of a step needs to know, wherever they come from. */
export interface SendContext {
  readonly planId: string;
  readonly kind: StepKind;
  readonly step: RowStep;
  /** Ids of what was provisioned before the step's first request. */
  readonly provisionedIds: readonly string[];
  readonly service: JobService;
  readonly deps: Omit<RunDeps, 'files' | 'createLane' | 'owner'>;
  readonly journal: Journal;
  readonly lock: Held;
  readonly stop: StopSwitch;
  /** When the time of the job is over: nothing leaves from then on. */
  readonly notAfter?: StatedTime | undefined;
  /** Absent for a step without a window. */
  readonly hours?: ReturnType<typeof createSendingHours> | undefined;
  /** Absent for a step that sends all at once (sending-stages.ts). */
  readonly stages?:
    | {
        /** A request that names no stage may never leave. */
        isOpen(head: Pick<RequestHead, 'stage'>): boolean;
        /** Called where nothing is left but requests of later stages, and none is in flight. True: the next stage may begin; else the run stops. */
        endStage(): Promise<boolean>;
      }
    | undefined;
  readonly planned: Pick<PlannedStep, 'number' | 'kind'> & { readonly counts: Pick<PlannedStep['counts'], 'planned'> };
  readonly progress: Pick<StepProgress, 'settledRows'>;
  readonly maxFailedPercent: number;
  /** What this process kept of the same step when it sent a part of it before. */
  readonly before?: StepBefore;
  /** The breaker is open, and this process has no way to the service; other processes may. */
  readonly onAway?: () => void;
}

/** Why requests of a stage and of a group of hours may not leave now; undefined where they may. */
export function findClosed(
  { head }: Pick<PartToSend, 'head'>,
  { stages, hours }: Pick<SendContext, 'stages' | 'hours'>,
): string | undefined {
  if (stages?.isOpen(head) === false) return 'the stage before it has not passed';
  return hours?.isOpenFor(head.hours) === false ? 'the window of its recipients is closed' : undefined;
}

export interface StepBefore {
  readonly breaker: Breaker;
  readonly notices: StepNotices;
}

/** What all steps of a run that is applied share. */
export interface OfRun extends Pick<SendContext, 'service' | 'journal' | 'stop'> {
  readonly directory: string;
  readonly plan: Plan;
  readonly deps: RunDeps;
  readonly lock: Lock;
  readonly areas: ReturnType<typeof createAreaUse>;
}

/** What applying a step of a plan needs to know. */
export interface StepContext extends OfRun, Omit<SendContext, 'provisionedIds' | keyof OfRun> {
  readonly planned: PlannedStep;
  readonly progress: StepProgress;
}

/** What other runs of the job sent last, as only its time is known: it took a second at most, or was one message, of ten parts at most. */
const LEAST_SIZE: RequestSize = { messages: 1, segments: 10 };

/**
 * When a run last sent to each area, and how much: a lane waits out the span of its limit after it, since steps share the area's limits. Times
 * are monotonic: the wall clock may be set meanwhile. `state`: as processes before this one left it, before this one adds to it.
 * `othersSentMsAgo`: by the job's lock, which all had that sent; where its files were deleted, and a run was begun, nothing says how long ago.
 */
export function createAreaUse(
  clock: Clock,
  { state, othersSentMsAgo }: { state: RunState; othersSentMsAgo?: number | undefined },
) {
  const lastSentMs = new Map<Area, number>();
  const agoMs = othersSentMsAgo ?? (state.firstOpen === undefined ? undefined : 0);
  const beforeMs = agoMs === undefined ? undefined : clock.monotonicMs() - agoMs;
  return {
    /** For the next lane: at least how long ago, undefined when nothing was ever sent; and what the last request took of the limits, at most. */
    lastOf: (area: Area): Pick<RunLaneOptions, 'lastSentMsAgo' | 'lastSize'> => {
      const atMs = lastSentMs.get(area) ?? beforeMs;
      const { messages, segments } = state.lastSize ?? LEAST_SIZE;
      return {
        lastSentMsAgo: atMs === undefined ? undefined : clock.monotonicMs() - atMs,
        lastSize: {
          messages: Math.max(messages, LEAST_SIZE.messages),
          segments: Math.max(segments, LEAST_SIZE.segments),
        },
      };
    },
    note: (area: Area): void => {
      lastSentMs.set(area, clock.monotonicMs());
    },
  };
}
