import { createHash } from 'node:crypto';
import { isObject } from '../domain/is-object.js';
import { isRowStep, type Job, rowStepOf } from '../job/job.js';
import { kindOf } from '../kinds/kinds.js';
import type { RunDeps } from '../run/run-deps.js';
import type { RunEvent } from '../run/run-events.js';
import type { StepBefore } from '../run/send/send-context.js';
import { StepRunner } from '../run/step-runner.js';
import { StopSwitch } from '../run/stop.js';
import { holdParts } from './held-parts.js';
import { type Lease, LeaseLost } from './lease.js';
import type { WorkingRun } from './store.js';

/** What happens in a worker, for those who watch it. */
export type WorkEvent =
  | RunEvent
  /** A lease begins; the one before it has ended. */
  | { readonly type: 'lease'; readonly lease: Pick<Lease, 'isFresh'> }
  /** It has nothing to do; `waits`: there is a run, but no leader that lets it work on it. */
  | { readonly type: 'idle'; readonly waits: boolean }
  /** What follows is of this step of a job. */
  | { readonly type: 'step'; readonly job: string; readonly step: number; readonly kind: string };

/** A worker claims as many requests as it has slots; where these are few, twice as many, up to this: a dead one keeps others waiting. */
const CLAIMED_AT_ONCE = 8;

/**
 * Sends requests of the open step of a run, until it has none left, or the worker is to stop, or has no way to the service. What holds for every request (a guard, credentials, a refusal as a whole) stops the run for all
 * workers; a service that gives no good answer for long stops this one. Returns why it stopped by itself.
 */
export async function workOnRun(
  run: WorkingRun,
  job: WorkerJob,
  context: {
    readonly lease: Lease;
    readonly deps: Omit<RunDeps, 'files' | 'owner'>;
    readonly stop: StopSwitch;
    readonly emit: ((event: WorkEvent) => unknown) | undefined;
    readonly before: StepBefore;
  },
): Promise<StopSwitch['reason']> {
  const { lease, deps, before } = context;
  const step = rowStepOf(job, run.step);
  const kind = kindOf(step);
  const ended = new AbortController();
  const stop = followStop(context.stop, ended.signal);
  const { concurrency } = step.limits;
  const claimAtOnce = Math.max(concurrency, Math.min(CLAIMED_AT_ONCE, 2 * concurrency));
  const held = holdParts(run, lease, () => (before.breaker.isOpen ? 1 : claimAtOnce));
  const onAway = () => {
    // What it had claimed is for others. One whose outcome is to be queried is not postponed for it.
    if (kind.outcomeQuery === undefined) stop.request('interrupted', 'there is no way to the service');
  };
  const lane = deps.createLane({
    area: kind.area,
    limits: step.limits,
    lastSentMsAgo: undefined,
    signal: stop.nothingNew,
  });
  const runner = new StepRunner(
    {
      ...{ planId: run.run, kind: kind.forRun?.() ?? kind, step, provisionedIds: run.provisionedIds },
      ...{ service: job.service, deps, journal: held, lock: held, stop },
      planned: { number: run.step, kind: step.kind, counts: { planned: 0 } },
      progress: held,
      maxFailedPercent: job.guards.maxFailedPercent,
      ...{ before, onAway },
    },
    held,
    lane,
  );
  try {
    await runner.run();
  } catch (error) {
    // Another one may have what this worker held: it begins anew.
    if (!(error instanceof LeaseLost)) throw error;
  } finally {
    ended.abort();
    await lane.close();
  }
  const { reason } = stop;
  if (reason === undefined || reason.reason === 'interrupted') return undefined;
  if (reason.reason !== 'unavailable') await lease.calls.store.askToStop(run, reason);
  return reason;
}

/** Stops with the process, and by itself for this run alone. */
export function followStop(process: StopSwitch, ended: AbortSignal): StopSwitch {
  const stop = new StopSwitch();
  const request = () => stop.request('interrupted', process.reason?.detail ?? '');
  if (process.isRequested) request();
  process.nothingNew.addEventListener('abort', request, { once: true, signal: ended });
  process.nothingMore.addEventListener('abort', () => stop.abandon(), { once: true, signal: ended });
  return stop;
}

/** What sending the requests of a run takes; leader and worker have it each from their own copy of the job file. */
export type WorkerJob = Pick<Job, 'name' | 'service' | 'steps' | 'guards'>;

/**
 * SHA-256 of what leader and workers must agree on: where the steps go, how fast, and what is done about a failure. Not of the
 * texts and rows, which the plan has, nor of the secrets, which each process reads where its own file says.
 */
export function digestJob({ service: { credentials: _, ...service }, steps, guards }: Omit<WorkerJob, 'name'>): string {
  const sent = steps.map((step) => {
    const isRepeatable = isRowStep(step) && kindOf(step).isRepeatable(step);
    return { kind: step.kind, limits: step.limits, isRepeatable };
  });
  const agreed = { service, steps: sent, maxFailedPercent: guards.maxFailedPercent };
  const inOrder = (_: string, value: unknown) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value;
  return createHash('sha256').update(JSON.stringify(agreed, inOrder)).digest('hex');
}
