import { randomUUID } from 'node:crypto';
import { createLeader, type LeaderOptions } from '../cluster/leader.js';
import { createSharedLane, ServerClock } from '../cluster/shared-lane.js';
import { type LaneStore, type Store, StoreLost } from '../cluster/store.js';
import { messageOf } from '../domain/errors.js';
import { accountOf, type Job, type JobService } from '../job/job.js';
import type { Plan } from '../plan/format/plan-file.js';
import type { RunDeps } from '../run/run-deps.js';
import type { Context } from './context.js';
import type { Env } from './env.js';
import { readAddress } from './open-service.js';

/** A database that several processes share. */
export type OpenCluster = Awaited<ReturnType<typeof openCluster>>;

const RECOVER_EVERY_MS = 2_000;
/** A process that was cut off from the database takes back nothing at first: others may come back with it, and say what became of theirs. */
const BACK_FOR_MS = 15_000;
/**
 * A third of the shortest lease: no lease ends in less. With a shorter time, a process that loses a call every few seconds would never
 * take anything back, however long it waits.
 */
const CUT_OFF_MS = 5_000;

/** Connects, and waits for a database that is down as long as for a service that is. */
export async function openCluster(context: Context, settings: NonNullable<Job['cluster']>, giveUpAfterSeconds: number) {
  const { env, log, stop, emit } = context;
  const { clock, random, owner } = env;
  const closed = new AbortController();
  const name = nameOf(owner);
  const id = `${name} ${randomUUID()}`;
  let recoverAtMs = Number.NEGATIVE_INFINITY;
  const giveUpAfterMs = giveUpAfterSeconds * 1000;
  const repeat = createPatience(context, {
    giveUpAfterMs,
    signal: AbortSignal.any([stop.nothingMore, closed.signal]),
    onCutOff: () => {
      recoverAtMs = clock.monotonicMs() + BACK_FOR_MS;
    },
  });
  const readUrl = () => readAddress(settings.database, context);
  const direct = await repeat(() => env.loadStore(readUrl, (notice) => log.warn(notice)));
  const recoverOrAsk = () => (clock.monotonicMs() < recoverAtMs ? direct.readServer() : direct.recover());
  /** Takes back what was lost of others, whatever this process is here for. */
  const recoverEvery = async () => {
    for (;;) {
      await clock.sleep(RECOVER_EVERY_MS, closed.signal);
      if (closed.signal.aborted) return;
      const startMs = clock.monotonicMs();
      await repeat<unknown>(recoverOrAsk, closed.signal).then(
        () => emit({ type: 'database', seconds: (clock.monotonicMs() - startMs) / 1000 }),
        // What ends the process shows elsewhere.
        () => {},
      );
    }
  };
  const recovering = recoverEvery();
  const store = bePatient(direct, repeat);
  const server = new ServerClock();
  const laneFor =
    (service: JobService): RunDeps['createLane'] =>
    (options) => {
      const { area, limits, signal } = options;
      // By the lane's own signal: a step that runs once more while the run stops waits for a database that comes back.
      const turns: LaneStore = { book: (...asked) => repeat(() => direct.book(...asked), signal) };
      const lane = createSharedLane({
        ...{ store: turns, server, limits, clock, random, signal, giveUpAfterMs },
        name: `${area} ${accountOf(service, area)}`,
        onReach: (said) => log.warn(`${area}: ${said}`, { event: 'limit-reach' }),
      });
      emit({ type: 'lane', options, lane });
      return lane;
    };
  return {
    store,
    /** How people know this process. */
    name,
    /** Lanes that all processes of the database share. */
    laneFor,
    /** How a plan is sent by workers; undefined where this process sends alone. */
    leaderOf: (plan: Plan, runSettings: Job, lock: LeaderOptions['lock']) => {
      if (settings.share === 'lane') return undefined;
      const { sendHere, leaseSeconds } = settings;
      const createLane = laneFor(runSettings.service);
      const leaseMs = leaseSeconds * 1000;
      return createLeader({ store, clock, createLane, plan, settings: runSettings, lock, sendHere, leaseMs, name, id });
    },
    close: async () => {
      // What nobody waits for any more would keep the process alive.
      closed.abort();
      await recovering;
      await direct.close();
    },
  };
}

function nameOf({ host, pid }: Env['owner']): string {
  return `${host.split('/')[0]} ${pid}`;
}

const STAND_BY_EVERY_MS = 5_000;

/**
 * Shows in `volley cluster status` that this process stands by for a job with a database, until the signal aborts. Says once where the
 * database does not answer, or is not as expected: over it the process could not take over.
 */
export async function showStandby(context: Context, { name, cluster }: Job, signal: AbortSignal): Promise<void> {
  if (cluster === undefined) return;
  const { env, log } = context;
  const readUrl = () => readAddress(cluster.database, context);
  let store: Store | undefined;
  let said = '';
  while (!signal.aborted) {
    try {
      store ??= await env.loadStore(readUrl, () => {});
      await store.standBy(nameOf(env.owner), name);
      said = '';
    } catch (error) {
      const why = messageOf(error);
      if (why !== said && !signal.aborted) {
        log.warn(`${why}; while it is so, this process cannot take over`, { event: 'database-lost' });
      }
      said = why;
    }
    await env.clock.sleep(STAND_BY_EVERY_MS, signal);
  }
  await store?.close();
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

/** Repeats a call of the store until it is answered, or `signal` aborts: every one may be repeated (store.ts). */
export type Repeat = <T>(call: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/**
 * Throws the last `StoreLost` after `giveUpAfterMs`, or when `signal` aborts, which a call without one of its own waits for. Nothing is sent while a
 * call waits, since both intent and turn come from the store. `onCutOff`: for each call that is lost once none was answered for a while.
 */
function createPatience(
  { env: { clock, random }, log, emit }: Context,
  { giveUpAfterMs, signal, onCutOff }: { giveUpAfterMs: number; signal: AbortSignal; onCutOff: () => void },
): Repeat {
  /** The first call of those that are lost in a row: a process may have been stopped between the two, and has tried only since the second. */
  let lost: { readonly beganMs: number; readonly failedMs: number } | undefined;
  const said = new Set<string>();
  /** Throws where the waiting is over. */
  const wait = async (
    error: StoreLost,
    { startMs, pauseMs }: { startMs: number; pauseMs: number },
    until: AbortSignal,
  ) => {
    if (until.aborted) throw error;
    const nowMs = clock.monotonicMs();
    lost ??= { beganMs: startMs, failedMs: nowMs };
    if (nowMs - lost.beganMs >= CUT_OFF_MS) onCutOff();
    if (!said.has(error.message)) {
      log.warn(`${error.message}; nothing is sent until it answers`, { event: 'database-lost' });
    }
    said.add(error.message);
    emit({ type: 'database', seconds: undefined });
    if (nowMs - lost.failedMs > giveUpAfterMs) throw error;
    await clock.sleep(pauseMs * (0.5 + random() / 2), until);
  };
  return async <T>(call: () => Promise<T>, until = signal): Promise<T> => {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
      const startMs = clock.monotonicMs();
      try {
        const result = await call();
        if (lost !== undefined) {
          log.info('the database answers again', { event: 'database-back' });
          emit({ type: 'database', seconds: 0 });
        }
        lost = undefined;
        said.clear();
        return result;
      } catch (error) {
        if (!(error instanceof StoreLost)) throw error;
        await wait(error, { startMs, pauseMs }, until);
      }
    }
  };
}

/** Wraps a store so that every call of it is repeated. */
function bePatient(store: Store, repeat: Repeat): Store {
  const { close, ...calls } = store;
  const repeated = Object.entries(calls).map(([name, call]) => [
    name,
    (...args: never[]) => repeat(() => (call as (...args: never[]) => Promise<unknown>)(...args)),
  ]);
  return { ...(Object.fromEntries(repeated) as typeof calls), close };
}
