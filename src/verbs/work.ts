import { StoreLost, type WorkingRun } from '../cluster/store.js';
import { digestJob } from '../cluster/work-on-run.js';
import { type WorkerService, workForRuns } from '../cluster/worker.js';
import type { Context, Result } from '../command/context.js';
import { placeInRun } from '../command/disk-error.js';
import { describeStop } from '../command/failure.js';
import { openCluster } from '../command/open-cluster.js';
import { type OpenService, openService } from '../command/open-service.js';
import { escapeText } from '../command/screen.js';
import { drainOnSignal } from '../command/signals.js';
import { jobDirectoryOf } from '../command/with-job.js';
import { closing } from '../domain/closing.js';
import { countOf } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { isRowStep, type Job, rowStepOf } from '../job/job.js';
import { loadJob } from '../job/load.js';
import { measureWork } from '../observe/watch-command.js';
import { withFields } from '../ports/log.js';
import { EXIT } from '../report/exit-code.js';
import type { Progress } from '../run/run-deps.js';
import type { StopSwitch } from '../run/stop.js';
import { defineVerb, json, metrics, readAs, theJob, yes } from './verb.js';

/** What a dead worker had claimed is for others after so long, however long workers go on without a leader. */
const LEASE_SECONDS = 30;

/** `volley work`: claims and sends requests of runs of a job that another process leads. */
export const work = defineVerb({
  args: { job: theJob },
  flags: {
    'until-done': yes('End when no run of the job is left in the database, once there was one; else wait for the next'),
    'until-idle': readAs(
      'End after so long without anything to do, such as 60s or 10m',
      'a time such as 60s or 10m',
      readIdle,
    ),
    ...metrics,
    json,
  },
  examples: [
    ['jobs/spring-sale.yaml', 'works until a signal, with the job file of the process that leads'],
    ['jobs/spring-sale.yaml --until-done', 'for a Kubernetes Job'],
  ],
  run: async (given, context) => {
    const job = await loadJob(given.job);
    return workForJob(job, given, context, () => loadJob(given.job));
  },
});

/** The rest of `volley work`, of a job that is loaded; `reload` reads its file again. */
export function workForJob(job: Job, flags: WorkFlags, context: Context, reload: () => Promise<Job> = async () => job) {
  const { cluster, service, name } = job;
  if (cluster === undefined || cluster.share === 'lane' || service.sandbox) {
    const so = service.sandbox ? 'it is sent to a sandbox within its leader' : 'it has no requests for workers';
    throw new UserError('bad-job', `Cannot work on job ${name}: ${so}`, {
      hint: 'A job that workers send has `cluster: { database: … }`, without `share: lane`, and no `sandbox: true`.',
    });
  }
  return measureWork(flags, context, () => workOver(cluster, { job, flags, reload }, context));
}

type WorkFlags = Parameters<typeof measureWork>[0] & {
  readonly untilDone: boolean;
  readonly untilIdle: number | undefined;
};

interface Asked {
  readonly job: Job;
  readonly flags: WorkFlags;
  readonly reload: () => Promise<Job>;
}

async function workOver(settings: NonNullable<Job['cluster']>, asked: Asked, context: Context): Promise<Result> {
  const { env, stop, emit } = context;
  const { job, flags } = asked;
  let run: string | undefined;
  const log = withFields(context.log, () => ({ run }));
  return drainOnSignal({ ...context, log }, async () => {
    await using access = closing(openAccess(asked, { ...context, log }));
    const rows = countSent();
    /** Known once this worker has looked for a run. */
    let hasSeenRun: boolean | undefined;
    await access.open();
    await using cluster = closing(await openCluster({ ...context, log }, settings, job.service.giveUpAfterSeconds));
    const { store, name, laneFor } = cluster;
    const working = workForRuns(
      {
        ...{ store, clock: env.clock, random: env.random, onProgress: rows.note },
        onAttempt: (attempt) => emit({ type: 'attempt', ...attempt }),
        onNotice: (notice, fields) => log.warn(notice, fields),
        runs: { job: job.name },
        leaseMs: Math.min(LEASE_SECONDS, settings.leaseSeconds) * 1000,
        name,
        isOver: ({ forMs, hasRuns }) => {
          hasSeenRun = hasSeenRun === true || hasRuns;
          if (flags.untilIdle !== undefined && forMs >= flags.untilIdle) return true;
          return flags.untilDone && hasSeenRun && !hasRuns;
        },
        openService: async (led) => {
          const service = await access.of(led);
          return service && { ...service, createLane: laneFor(service.job.service) };
        },
        closeService: access.close,
        emit,
        onWork: (led, { steps }) => {
          hasSeenRun = true;
          const { kind } = rowStepOf({ steps }, led.step);
          emit({ type: 'step', job: job.name, step: led.step, kind });
          if (run === led.run) return;
          run = led.run;
          log.info(`works on run ${run} of job ${job.name}, step ${led.step}`, { event: 'work', step: led.step });
        },
      },
      stop,
    );
    const end = await working.catch((error: unknown) => {
      // What the database refuses by now it has allowed before.
      if (hasSeenRun !== undefined) placeInRun(error);
      if (!(error instanceof StoreLost)) throw error;
      return { reason: 'unavailable', detail: error.message } as const;
    });
    return resultOf(stop.reason ?? end, rows.total);
  });
}

function resultOf(stopped: StopSwitch['reason'], rows: ReturnType<typeof countSent>['total']): Result {
  const reason = stopped?.detail;
  const exitCode = reason === undefined ? EXIT.ok : EXIT.again;
  const figures = `${countOf(rows.accepted, 'row')} accepted, ${rows.rejected} rejected, ${rows.inDoubt} in doubt`;
  return {
    json: {
      state: reason === undefined ? 'finished' : 'stopped',
      exitCode,
      error: stopped === undefined ? null : describeStop(stopped),
      reason: reason ?? null,
      rows,
    },
    text: `This worker: ${figures}.\n${stopped === undefined ? '' : `It stopped (${stopped.reason}): ${escapeText(stopped.detail)}.\n`}`,
    exitCode,
    reason: reason ?? `nothing left to do; ${figures}`,
  };
}

/** The service by the job file, which is read again where the leader has another one. */
function openAccess(asked: Asked, context: Context) {
  let { job } = asked;
  let service: OpenService | undefined;
  let said = '';
  /** Opens the service, even before there is a run: secrets that are missing end the worker at once. */
  const open = async (): Promise<OpenService> => {
    const ofRows = { ...job, steps: job.steps.filter(isRowStep) };
    service ??= await openService(context, ofRows, jobDirectoryOf(job));
    return service;
  };
  const close = async () => {
    await service?.close();
    service = undefined;
  };
  const of = async ({ run, digest }: WorkingRun): Promise<Omit<WorkerService, 'createLane'> | undefined> => {
    try {
      if (digestJob(job) !== digest) {
        const other = await asked.reload();
        const so = 'its leader has another job file: other limits, guards, steps or service';
        if (digestJob(other) !== digest) throw new UserError('bad-job', so);
        await close();
        job = other;
      }
      const { transport, authorize } = await open();
      return { job, transport, authorize };
    } catch (error) {
      // The job file, or that of a key, may be about to be written.
      if (!(error instanceof UserError)) throw error;
      const so = `leaves run ${run} to others: ${error.message}`;
      if (said !== so) context.log.warn(`This worker ${so}`, { run });
      said = so;
      return undefined;
    }
  };
  return { open, of, close };
}

/** What one worker has settled. Each time that it takes up a step, its progress counts from zero. */
function countSent() {
  const total = { accepted: 0, rejected: 0, inDoubt: 0 };
  let last: Pick<Progress, keyof typeof total | 'settled'> = { ...total, settled: 0 };
  const note = (now: Progress) => {
    const isAnew = now.settled < last.settled;
    for (const state of ['accepted', 'rejected', 'inDoubt'] as const)
      total[state] += now[state] - (isAnew ? 0 : last[state]);
    last = now;
  };
  return { total, note };
}

/** Milliseconds of `60s` or `10m`. */
function readIdle(given: string): number | undefined {
  const [, count, unit] = /^(\d{1,5})([sm])$/.exec(given) ?? [];
  return count === undefined ? undefined : Number(count) * (unit === 'm' ? 60_000 : 1000);
}
