import type { Plan } from '../plan/format/plan-file.js';
import type { StepSender } from '../run/apply-plan.js';
import type { RunSettings } from '../run/resume.js';
import type { RunDeps } from '../run/run-deps.js';
import type { StepContext } from '../run/send/send-context.js';
import { StopSwitch } from '../run/stop.js';
import { takeOver } from './lead-run.js';
import { leadStep } from './lead-step.js';
import { type Store, StoreLost } from './store.js';
import { work } from './work.js';
import { encodeWorkerJob, type WorkerJob } from './worker-job.js';

export interface LeaderOptions {
  readonly plan: Plan;
  readonly settings: RunSettings;
  /** Of the job's lock. */
  readonly epoch: number;
  /** This process sends too. */
  readonly sendHere: boolean;
  readonly leaseMs: number;
  /** For people: host and process. */
  readonly name: string;
}

/** Lets the workers of a store send a run; plan, journal and outputs stay with this process. */
export function createLeader(
  options: LeaderOptions,
  deps: Pick<RunDeps, 'clock' | 'createLane'> & { readonly store: Store },
): StepSender & { end(isFinished: boolean): Promise<void>; forget(): Promise<void> } {
  const { plan, settings, epoch, sendHere } = options;
  const { store, clock } = deps;
  const key = { run: plan.id, epoch };
  let isKnown = false;
  let isEmpty = false;
  const job = encodeWorkerJob(plan.job.name, settings);
  return {
    takeOver: async (state, journal) => {
      isKnown = await takeOver(key, { store, state, journal, clock, steps: settings.steps, job });
      isEmpty = !isKnown;
      return isKnown;
    },
    sendStep: async (context) => {
      isEmpty = false;
      const local = new StopSwitch();
      const sending = sendHere ? sendFromHere(options, { context, local, deps }) : undefined;
      sending?.catch(() => {});
      try {
        await leadStep(context, { store, key, job, isKnown });
        isEmpty = !context.stop.nothingMore.aborted;
      } catch (error) {
        if (!(error instanceof StoreLost)) throw error;
        context.stop.request('unavailable', `the database does not answer: ${error.message}`);
      } finally {
        local.request('interrupted', 'the step has ended');
        await sending?.catch((error: unknown) => {
          if (!(error instanceof StoreLost)) throw error;
        });
      }
    },
    /** What is still under way stays with the store, for the next process that leads the run. */
    end: async (isFinished) => {
      if (isFinished || isEmpty) await store.drop(key);
    },
    /** Of a run whose process died after its end, before it said so. */
    forget: async () => {
      await store.lead(key, job);
      await store.drop(key);
    },
  };
}

/** A worker in this process, for one step. */
async function sendFromHere(
  { plan, leaseMs, name }: LeaderOptions,
  {
    context,
    local,
    deps,
  }: { context: StepContext; local: StopSwitch; deps: Pick<RunDeps, 'createLane'> & { store: Store } },
): Promise<void> {
  const { stop, service } = context;
  const request = () => local.request('interrupted', 'the run is stopping');
  if (stop.isRequested) request();
  stop.nothingNew.addEventListener('abort', request, { once: true });
  stop.nothingMore.addEventListener('abort', () => local.abandon(), { once: true });
  const { transport, authorize } = context.deps;
  try {
    const end = await work(
      {
        only: plan.id,
        isOver: () => false,
        leaseMs,
        name,
        openService: async (_run, job: WorkerJob) => ({
          job: { ...job, service },
          transport,
          authorize,
          createLane: deps.createLane,
          close: async () => {},
        }),
      },
      local,
      // The leader counts what all workers settle.
      { ...context.deps, store: deps.store, onProgress: () => {} },
    );
    if (end !== undefined) stop.request(end.reason, end.detail);
  } catch (error) {
    stop.request('interrupted', 'the run failed');
    throw error;
  }
}
