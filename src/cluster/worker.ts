import { randomUUID } from 'node:crypto';
import { rowStepOf } from '../job/job.js';
import type { RunDeps } from '../run/run-deps.js';
import { StepNotices } from '../run/run-events.js';
import { Breaker } from '../run/send/breaker.js';
import type { StepBefore } from '../run/send/send-context.js';
import type { StopSwitch } from '../run/stop.js';
import { createCalls, createLease, type Lease } from './lease.js';
import type { RunFilter, Store, WorkingRun } from './store.js';
import { type WorkEvent, type WorkerJob, workOnRun } from './work-on-run.js';

const POLL_MS = 250;
/** How often a worker looks at the run while it has no way to the service: the run may end meanwhile. */
const AWAY_POLL_MS = 1_000;
/** What a worker knew of its way to the service so long ago counts no more. */
const KNOWN_FOR_MS = 120_000;

export interface WorkerService extends Pick<RunDeps, 'transport' | 'authorize' | 'createLane'> {
  readonly job: WorkerJob;
}

interface WorkOptions extends Pick<RunDeps, 'clock' | 'random' | 'onProgress' | 'onAttempt' | 'onNotice'> {
  readonly store: Store;
  readonly runs: RunFilter;
  /** Asked while there is nothing to do; `hasRuns`: whether a run that it may work on is there. */
  readonly isOver: (idle: { readonly forMs: number; readonly hasRuns: boolean }) => boolean;
  readonly leaseMs: number;
  readonly name: string;
  /** Opens the service of a run; undefined where this worker has another job file than the leader, now. */
  readonly openService: (run: WorkingRun) => Promise<WorkerService | undefined>;
  /** Called while there is nothing to do: for the next run the service is opened anew, with the keys of then. */
  readonly closeService?: () => Promise<void>;
  readonly onWork?: (run: WorkingRun, job: WorkerJob) => void;
  readonly emit?: ((event: WorkEvent) => unknown) | undefined;
}

/**
 * Claims requests and sends them, until `stop` or `isOver`; as many workers as wanted do so at once. Returns why it can go on no
 * more, if the service is out of its reach.
 */
export async function workForRuns(options: WorkOptions, stop: StopSwitch): Promise<StopSwitch['reason']> {
  const { store, clock } = options;
  const calls = createCalls(store, clock);
  const round: Round = { options, stop, before: undefined };
  while (!stop.isRequested) {
    const lease = createLease(randomUUID(), calls, options);
    options.emit?.({ type: 'lease', lease });
    await lease.start();
    try {
      const end = await workUnder(lease, round);
      if (end !== 'again') return end;
    } finally {
      await lease.stop();
      await store.recover(lease.worker);
    }
  }
  return undefined;
}

interface Round {
  readonly options: WorkOptions;
  readonly stop: StopSwitch;
  /** What this worker knows of its way to the service, by the last step that it sent. */
  before: (StepBefore & { readonly run: string; readonly step: number; readonly atMs: number }) | undefined;
}

async function workUnder(lease: Lease, round: Round): Promise<StopSwitch['reason'] | 'again'> {
  const { options, stop } = round;
  const { store, clock, runs, emit } = options;
  const idleSinceMs = clock.monotonicMs();
  while (!stop.isRequested) {
    if (lease.isLost) return 'again';
    const run = await store.findRun(runs);
    const service = run?.isOpen === true ? await options.openService(run) : undefined;
    if (run === undefined || service === undefined) {
      if (run?.isOpen !== true) await options.closeService?.();
      if (await waitForRun(round, idleSinceMs, run)) return undefined;
      continue;
    }
    const { job, ...access } = service;
    const before = findBefore(run, job, round);
    const { pauseMs } = before.breaker;
    if (pauseMs > 0) {
      await clock.sleep(Math.min(pauseMs, AWAY_POLL_MS), stop.nothingNew);
      continue;
    }
    options.onWork?.(run, job);
    const sinceMs = clock.monotonicMs();
    const reason = await workOnRun(run, job, { lease, stop, emit, before, deps: { ...options, ...access } });
    round.before = { ...before, run: run.run, step: run.step, atMs: clock.monotonicMs() };
    if (reason?.reason === 'unavailable') return reason;
    // The step may be closed, or wait for its leader: then this was soon over.
    await clock.sleep(Math.max(0, POLL_MS - (clock.monotonicMs() - sinceMs)), stop.nothingNew);
    // Under a new lease: what was claimed and not sent is free for others.
    return 'again';
  }
  return undefined;
}

/** Returns whether there is nothing more to wait for. `run`: there is one, that is not open, or whose leader has another job file. */
async function waitForRun(
  { options, stop }: Round,
  idleSinceMs: number,
  run: WorkingRun | undefined,
): Promise<boolean> {
  const { clock } = options;
  const isOther = run?.isOpen === true;
  options.emit?.({ type: 'idle', waits: run !== undefined && !isOther });
  if (options.isOver({ forMs: clock.monotonicMs() - idleSinceMs, hasRuns: run !== undefined })) return true;
  await clock.sleep(isOther ? AWAY_POLL_MS : POLL_MS, stop.nothingNew);
  return false;
}

function findBefore({ run, step: number }: WorkingRun, job: WorkerJob, { before, options }: Round): StepBefore {
  const isSame = before?.run === run && before.step === number;
  if (isSame && options.clock.monotonicMs() - before.atMs < KNOWN_FOR_MS) return before;
  return {
    breaker: new Breaker({ ...options, giveUpAfterMs: job.service.giveUpAfterSeconds * 1000 }),
    notices: new StepNotices(options, { number, kind: rowStepOf(job, number).kind }),
  };
}
