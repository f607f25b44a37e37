import { randomUUID } from 'node:crypto';
import type { RunDeps, SendDeps } from '../run/run-deps.js';
import { Breaker } from '../run/send/breaker.js';
import type { StepBefore } from '../run/send/send-context.js';
import { StepNotices } from '../run/step-notices.js';
import type { StopSwitch } from '../run/stop.js';
import { SentAttempts } from './held-parts.js';
import { Lease } from './lease.js';
import type { Store, WorkingRun } from './store.js';
import { type WorkEvent, workOnRun } from './work-on-run.js';
import { decodeWorkerJob, rowStepOf, type WorkerJob } from './worker-job.js';

const POLL_MS = 250;
const RECOVER_EVERY_MS = 2_000;
/** While there is no way to the service; the run may end meanwhile. */
const AWAY_POLL_MS = 1_000;
/** A worker that had nothing to try for so long knows no more of it. */
const AWAY_FOR_MS = 120_000;

/** The service of a run, as this worker reaches it. */
export interface WorkerService extends Pick<SendDeps, 'transport' | 'authorize'>, Pick<RunDeps, 'createLane'> {
  readonly job: WorkerJob;
  close(): Promise<void>;
}

export interface WorkOptions {
  /** One run; undefined: any. */
  readonly only: string | undefined;
  /** Asked while there is nothing to do; `hasRuns`: whether a run that it may work on is there. */
  readonly isOver: (idle: { readonly forMs: number; readonly hasRuns: boolean }) => boolean;
  readonly leaseMs: number;
  /** For people: host and process. */
  readonly name: string;
  /** Undefined where this worker cannot work on it. `job` is undefined where another version wrote it. The last few are kept open. */
  readonly openService: (run: WorkingRun, job: WorkerJob | undefined) => Promise<WorkerService | undefined>;
  readonly onWork?: (run: WorkingRun, job: WorkerJob) => void;
  readonly emit?: ((event: WorkEvent) => unknown) | undefined;
}

type WorkDeps = Pick<SendDeps, 'clock' | 'random' | 'onProgress' | 'onAttempt' | 'onNotice'> & {
  readonly store: Store;
};

/**
 * Claims requests and sends them, until `stop` or `isOver`; as many workers as wanted do so at once. Returns why it can go on no
 * more, if the service is out of its reach.
 */
export async function workForRuns(
  options: WorkOptions,
  stop: StopSwitch,
  deps: WorkDeps,
): Promise<StopSwitch['reason']> {
  const { store, clock, onNotice } = deps;
  const sent = new SentAttempts(clock);
  const services: Services = new Map();
  const ending = new AbortController();
  const recovering = recoverEvery(store, clock, ending.signal);
  try {
    while (!stop.isRequested) {
      const lease = new Lease(randomUUID(), {
        ...{ store, clock, leaseMs: options.leaseMs, name: options.name, sent },
        onMissing: (count) =>
          onNotice(`the database had lost ${count} attempts of this worker; they are in it again`, { lost: count }),
      });
      options.emit?.({ type: 'lease', lease });
      await lease.start();
      try {
        const end = await workUnder(lease, { options, stop, deps, sent, services });
        if (end !== 'again') return end;
      } finally {
        await lease.stop();
        await store.leave(lease.worker);
      }
    }
    return undefined;
  } finally {
    ending.abort();
    await recovering;
    for (const service of services.values()) await (await service)?.close();
  }
}

interface OpenedService extends WorkerService {
  /** Where the last round ended without a way to the service. */
  away?: (StepBefore & { readonly step: number; readonly atMs: number }) | undefined;
}

/** By run and job, which may change with its leader; the one that was opened last at the end. */
type Services = Map<string, Promise<OpenedService | undefined>>;
const MOST_SERVICES = 8;

async function workUnder(
  lease: Lease,
  {
    options,
    stop,
    deps,
    sent,
    services,
  }: {
    options: WorkOptions;
    stop: StopSwitch;
    deps: WorkDeps;
    sent: SentAttempts;
    services: Services;
  },
): Promise<StopSwitch['reason'] | 'again'> {
  const { store, clock } = deps;
  const idleSinceMs = clock.monotonicMs();
  while (!stop.isRequested) {
    if (lease.isLost) return 'again';
    const run = await store.findRun({ only: options.only });
    const service = run === undefined ? undefined : await openOnce(run, services, options);
    if (run === undefined || service === undefined) {
      const hasRuns = await store.hasRuns({ only: options.only });
      options.emit?.({ type: 'idle', waits: hasRuns && run === undefined });
      // A run that was dropped may come back under the same id, and knows nothing of them.
      if (!hasRuns) sent.forget();
      if (options.isOver({ forMs: clock.monotonicMs() - idleSinceMs, hasRuns })) return undefined;
      await clock.sleep(POLL_MS, stop.nothingNew);
      continue;
    }
    const { job, transport, authorize, createLane } = service;
    const before = findBefore(run, service, deps);
    const { pauseMs } = before.breaker;
    if (pauseMs > 0) {
      await clock.sleep(Math.min(pauseMs, AWAY_POLL_MS), stop.nothingNew);
      continue;
    }
    options.onWork?.(run, job);
    const sinceMs = clock.monotonicMs();
    const isWantedElsewhere = async () => {
      const other = await store.findRun({ only: options.only, withOpenParts: true });
      return other !== undefined && other.run !== run.run;
    };
    service.away = undefined;
    const reason = await workOnRun(run, job, {
      ...{ store, lease, sent, stop, emit: options.emit, isWantedElsewhere },
      before,
      onAway: () => {
        service.away = { ...before, step: run.step, atMs: clock.monotonicMs() };
      },
      deps: { ...deps, transport, authorize, createLane },
    });
    if (reason?.reason === 'unavailable') return reason;
    // The step may be closed, or wait for its leader: then this was soon over.
    await clock.sleep(Math.max(0, POLL_MS - (clock.monotonicMs() - sinceMs)), stop.nothingNew);
    // Under a new lease: what was claimed and not sent is free for others.
    return 'again';
  }
  return undefined;
}

async function openOnce(
  run: WorkingRun,
  services: Services,
  { openService }: WorkOptions,
): Promise<OpenedService | undefined> {
  const name = `${run.run} ${run.job}`;
  const known = services.get(name);
  if (known !== undefined) return known;
  const opening = openService(run, decodeWorkerJob(run.job));
  services.set(name, opening);
  const [[oldest, service] = []] = services;
  if (services.size > MOST_SERVICES && oldest !== undefined) {
    services.delete(oldest);
    await (await service)?.close();
  }
  return opening;
}

/** What this worker knows of its way to the service, for the step that is open. */
function findBefore({ step: number }: WorkingRun, { job, away }: OpenedService, deps: WorkDeps): StepBefore {
  if (away?.step === number && deps.clock.monotonicMs() - away.atMs < AWAY_FOR_MS) return away;
  return {
    breaker: new Breaker({ ...deps, giveUpAfterMs: job.service.giveUpAfterSeconds * 1000 }),
    notices: new StepNotices(deps, { number, kind: rowStepOf(job, number).kind }),
  };
}

async function recoverEvery(store: Store, clock: WorkDeps['clock'], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(RECOVER_EVERY_MS, signal);
    // It is tried again, and what ends this worker shows elsewhere.
    if (!signal.aborted) await store.recover().catch(() => {});
  }
}
