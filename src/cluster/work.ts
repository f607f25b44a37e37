import { randomUUID } from 'node:crypto';
import type { RunDeps, SendDeps } from '../run/run-deps.js';
import type { StopSwitch } from '../run/stop.js';
import { SentAttempts } from './held-parts.js';
import { Lease } from './lease.js';
import type { Store, WorkingRun } from './store.js';
import { workOnRun } from './work-on-run.js';
import { decodeWorkerJob, type WorkerJob } from './worker-job.js';

const POLL_MS = 250;
const RECOVER_EVERY_MS = 2_000;

/** The service of a run, as this worker reaches it. */
export interface WorkerService extends Pick<SendDeps, 'transport' | 'authorize'>, Pick<RunDeps, 'createLane'> {
  readonly job: WorkerJob;
}

export interface WorkOptions {
  /** One run; undefined: any. */
  readonly only: string | undefined;
  /** Asked while there is nothing to do; `hasRuns`: whether a run that it may work on is there. */
  readonly isOver: (idle: { readonly forMs: number; readonly hasRuns: boolean }) => boolean;
  readonly leaseMs: number;
  /** For people: host and process. */
  readonly name: string;
  /** Once for each run; undefined where this worker cannot work on it. */
  readonly openService: (run: WorkingRun, job: WorkerJob) => Promise<WorkerService | undefined>;
  readonly onWork?: (run: WorkingRun, job: WorkerJob) => void;
}

type WorkDeps = Pick<SendDeps, 'clock' | 'random' | 'onProgress' | 'onNotice'> & { readonly store: Store };

/**
 * Claims requests and sends them, until `stop` or `isOver`; as many workers as wanted do so at once. Returns why it can go on no
 * more, if the service is out of its reach.
 */
export async function work(options: WorkOptions, stop: StopSwitch, deps: WorkDeps): Promise<StopSwitch['reason']> {
  const { store, clock, onNotice } = deps;
  const sent = new SentAttempts(clock);
  const services = new Map<string, Promise<WorkerService | undefined>>();
  const ending = new AbortController();
  const recovering = recoverEvery(store, clock, ending.signal);
  try {
    while (!stop.isRequested) {
      const lease = new Lease(randomUUID(), {
        ...{ store, clock, leaseMs: options.leaseMs, name: options.name, remembered: () => sent.list() },
        onMissing: (count) =>
          onNotice(`the database had lost ${count} attempts of this worker; they are in it again`, { lost: count }),
      });
      await lease.start();
      try {
        const end = await workUnder(lease, { options, stop, deps, sent, services });
        if (end !== 'lease-lost') return end;
      } finally {
        await lease.stop();
        await store.leave(lease.worker);
      }
    }
    return undefined;
  } finally {
    ending.abort();
    await recovering;
  }
}

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
    services: Map<string, Promise<WorkerService | undefined>>;
  },
): Promise<StopSwitch['reason'] | 'lease-lost'> {
  const { store, clock } = deps;
  let idleSinceMs = clock.monotonicMs();
  while (!stop.isRequested) {
    if (lease.isLost) return 'lease-lost';
    const run = await store.findRun({ only: options.only });
    const service = run === undefined ? undefined : await openOnce(run, services, options);
    if (run === undefined || service === undefined) {
      const hasRuns = await store.hasRuns({ only: options.only });
      if (options.isOver({ forMs: clock.monotonicMs() - idleSinceMs, hasRuns })) return undefined;
      await clock.sleep(POLL_MS, stop.nothingNew);
      continue;
    }
    options.onWork?.(run, service.job);
    const { job, transport, authorize, createLane } = service;
    const reason = await workOnRun(run, job, {
      ...{ store, lease, sent, stop },
      deps: { ...deps, transport, authorize, createLane },
    });
    if (reason?.reason === 'unavailable') return reason;
    idleSinceMs = clock.monotonicMs();
    // The step may be closed, or wait for its leader.
    await clock.sleep(POLL_MS, stop.nothingNew);
  }
  return undefined;
}

function openOnce(
  run: WorkingRun,
  services: Map<string, Promise<WorkerService | undefined>>,
  { openService }: WorkOptions,
): Promise<WorkerService | undefined> {
  const job = decodeWorkerJob(run.job);
  if (job === undefined) return Promise.resolve(undefined);
  const known = services.get(run.run) ?? openService(run, job);
  services.set(run.run, known);
  return known;
}

async function recoverEvery(store: Store, clock: WorkDeps['clock'], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(RECOVER_EVERY_MS, signal);
    // It is tried again, and what ends this worker shows elsewhere.
    if (!signal.aborted) await store.recover().catch(() => {});
  }
}
