import { ServiceError } from '../domain/errors.js';
import type { Job } from '../job/job.js';
import type { Plan } from '../plan/format/plan-file.js';
import type { StepSender } from '../run/apply-plan.js';
import type { RunDeps } from '../run/run-deps.js';
import type { StepContext } from '../run/send/send-context.js';
import type { StopSwitch } from '../run/stop.js';
import type { Lock } from '../storage/lock.js';
import { refuseRun, takeOver } from './lead-run.js';
import { leadStep } from './lead-step.js';
import { LeadLost, type LedRun, type Store, StoreLost } from './store.js';
import { digestJob, followStop } from './work-on-run.js';
import { workForRuns } from './worker.js';

export interface LeaderOptions extends Pick<RunDeps, 'clock' | 'createLane'> {
  readonly store: Store;
  readonly plan: Plan;
  readonly settings: Job;
  readonly lock: Pick<Lock, 'epoch' | 'assertHeld'>;
  readonly sendHere: boolean;
  readonly leaseMs: number;
  /** For people: host and process. */
  readonly name: string;
  /** Random, of the process, behind its name. */
  readonly id: string;
}

const BEATS_PER_LEASE = 6;

/** Lets the workers of a store send a run; plan, journal and outputs stay with this process. */
export function createLeader(
  options: LeaderOptions,
): StepSender & { end(isFinished: boolean): Promise<void>; leave(isOrderly: boolean): Promise<void> } {
  const { store, clock, plan, settings, lock, sendHere, leaseMs } = options;
  const key = { run: plan.id, epoch: lock.epoch };
  let led: LedRun | undefined;
  let isKnown = false;
  let isEmpty = false;
  let isAway = false;
  const newLead = { job: plan.job.name, digest: digestJob(settings), leader: options.id };
  const explained = <T>(task: Promise<T>): Promise<T> =>
    task.catch(async (error: unknown) => {
      isAway = error instanceof StoreLost;
      if (!(error instanceof LeadLost)) throw error;
      // As a rule the other leader has taken the lock: then the lock says so.
      await lock.assertHeld();
      throw refuseRun(plan.id, 'the database knows another leader of it, or none');
    });
  const left = new AbortController();
  let beats: Promise<void> | undefined;
  /** Renews the lease, between steps too, as nothing else does: after a call that failed, the next follows. Without the lock none does. */
  const beat = async () => {
    while (!left.signal.aborted) {
      // First the moment, then the lock: a process that sleeps in between does not lengthen its lease.
      const server = await store.readServer().catch(() => undefined);
      await lock.assertHeld();
      if (server !== undefined) await store.renewLead(key, { leaseMs, seenAtMs: server.atMs }).catch(() => {});
      await clock.sleep(leaseMs / BEATS_PER_LEASE, left.signal);
    }
  };
  const lead = async () => {
    led ??= await explained(store.lead(key, newLead));
    beats ??= beat().catch(() => {});
    return led;
  };
  return {
    lead: async () => ({ leaseMs, lead: (await lead()).born }),
    takeOver: async (state, journal, stop) => {
      const { steps } = settings;
      isKnown = await explained(takeOver(key, { store, led: await lead(), state, journal, clock, steps, stop }));
      isEmpty = !isKnown;
      return isKnown;
    },
    sendStep: async (context) => {
      isEmpty = false;
      const ended = new AbortController();
      const local = followStop(context.stop, ended.signal);
      const sending = sendHere ? sendFromHere(options, context, local) : undefined;
      sending?.catch(() => {});
      try {
        await explained(leadStep(context, { store, key, newLead, leaseMs, isKnown }));
        isEmpty = !context.stop.nothingMore.aborted;
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        context.stop.request('unavailable', error.message);
      } finally {
        local.request('interrupted', 'the step has ended');
        await sending?.catch((error: unknown) => {
          if (!(error instanceof StoreLost)) throw error;
        });
        ended.abort();
      }
    },
    /** Leaves the run: in good order, so that what is in the database may be dropped at once, or as a leader that died. */
    leave: async (isOrderly) => {
      left.abort();
      await beats;
      if (!isOrderly || led === undefined || isAway) return;
      await store.renewLead(key, { leaseMs: 0, seenAtMs: Number.MAX_SAFE_INTEGER }).catch(() => {});
    },
    /** Drops a run that is empty or finished, by whatever process. What is under way stays there, for the next process that leads it. */
    end: async (isFinished) => {
      if (!isFinished && !isEmpty) return;
      try {
        await lead();
        await explained(store.drop(key));
      } catch (error) {
        // What a stopped run has left in the store may stay there.
        if (isFinished || !(error instanceof ServiceError)) throw error;
      }
    },
  };
}

async function sendFromHere(
  { store, createLane, plan, settings, leaseMs, name }: LeaderOptions,
  context: StepContext,
  local: StopSwitch,
): Promise<void> {
  const { stop } = context;
  const { transport, authorize } = context.deps;
  const job = { ...settings, name: plan.job.name };
  try {
    const end = await workForRuns(
      {
        ...context.deps,
        store,
        // The leader counts what all workers settle.
        onProgress: () => {},
        runs: { run: plan.id },
        isOver: () => false,
        leaseMs,
        name,
        openService: async () => ({ job, transport, authorize, createLane }),
      },
      local,
    );
    if (end === undefined) return;
    context.deps.onNotice(`${end.detail}; this process sends nothing more, other workers continue if there are any`);
  } catch (error) {
    if (error instanceof ServiceError) stop.request('unavailable', error.message);
    else stop.request('interrupted', 'the run failed');
    throw error;
  }
}
