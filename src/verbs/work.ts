import { StoreLost, type WorkingRun } from '../cluster/store.js';
import { type WorkerService, workForRuns } from '../cluster/worker.js';
import { rowStepOf, type WorkerJob } from '../cluster/worker-job.js';
import { assertTrusted, readTrust, type WorkerTrust } from '../cluster/worker-trust.js';
import type { Context, Result } from '../command/context.js';
import { describeStop } from '../command/failure.js';
import { openCluster } from '../command/open-cluster.js';
import { assertSafeEnvironment, openTransport } from '../command/open-service.js';
import { readSecrets } from '../command/read-secrets.js';
import { escapeText } from '../command/screen.js';
import { drainOnSignal } from '../command/signals.js';
import { countOf } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { isRowStep, type SecretSource } from '../job/job.js';
import { areasOf } from '../kinds/kinds.js';
import { measureWork } from '../observe/watch-command.js';
import { withFields } from '../ports/log.js';
import { EXIT } from '../report/exit-code.js';
import type { Progress } from '../run/run-deps.js';
import { createAuthorize } from '../service/service-secrets.js';
import { DATABASE_FLAGS, sourceOf } from './cluster.js';
import { databaseFlags, defineVerb, json, metrics, readAs, text, texts, whole, yes } from './verb.js';

/** How long a worker waits for a database, or a service, that does not answer. */
const GIVE_UP_AFTER_SECONDS = 300;

/** `volley work`: claims and sends requests of runs that others lead. */
export const work = defineVerb({
  args: {},
  flags: {
    'until-done': yes('End when no run is left in the database, once there was one; else it waits for the next'),
    'until-idle': readAs(
      'End after so long without anything to do, such as 60s or 10m',
      'a time such as 60s or 10m',
      readIdle,
    ),
    run: text('Id of a run: works for that one alone'),
    'lease-seconds': {
      ...whole('Time after which the requests of this worker are free for others if it dies; 15 to 3600', 15, 3600),
      default: 30,
    },
    'allow-url': texts(
      'Address that runs may send to beside the service and this machine, such as https://sms-proxy.example.com; may be given several times',
    ),
    'allow-secret-env': texts(
      'Variable that runs may read a key from beside those that begin with VOLLEY_; may be given several times',
    ),
    'allow-secret-file': texts('File that runs may read a key from; may be given several times'),
    ...databaseFlags,
    ...metrics,
    json,
  },
  examples: [
    ['', 'works until a signal, for all jobs of the database'],
    ['--until-done --run k3v9q2m8x4aa', 'for a Kubernetes Job'],
  ],
  names: ({ run }) => ({ run }),
  run: (given, context) => {
    const { run, untilDone, untilIdle: untilIdleMs, leaseSeconds, allowUrl, allowSecretEnv, allowSecretFile } = given;
    const database = sourceOf(given);
    const allowSecrets = [...(allowSecretEnv ?? []), ...(allowSecretFile ?? [])];
    const trust = readTrust({ allowUrls: allowUrl ?? [], allowSecrets, database });
    const asked = { run, untilDone, untilIdleMs, leaseSeconds, database };
    return measureWork(given, context, () => workAs(asked, trust, context));
  },
});

interface Asked {
  readonly database: SecretSource;
  /** The plan id of one run; undefined: any. */
  readonly run: string | undefined;
  readonly untilDone: boolean;
  readonly untilIdleMs: number | undefined;
  readonly leaseSeconds: number;
}

async function workAs(flags: Asked, trust: WorkerTrust, context: Context): Promise<Result> {
  const { env, stop, emit } = context;
  assertSafeEnvironment(context.terminal);
  const { clock, random } = env;
  let run: string | undefined;
  const log = withFields(context.log, () => ({ run }));
  const { database, leaseSeconds } = flags;
  const settings = { database, leaseSeconds, share: 'requests', sendHere: true } as const;
  return drainOnSignal({ ...context, log }, async () => {
    const cluster = await openCluster({ ...context, log }, settings, GIVE_UP_AFTER_SECONDS, DATABASE_FLAGS);
    const rows = new SentRows();
    let hasSeenRun = false;
    let hasSaidWait = false;
    try {
      const working = workForRuns(
        {
          only: flags.run,
          leaseMs: leaseSeconds * 1000,
          name: cluster.name,
          isOver: ({ forMs, hasRuns }) => {
            if (!hasSeenRun && !hasRuns && !hasSaidWait && flags.run !== undefined) {
              log.info(`run ${flags.run} is not in the database, or not yet: waits for it`, { event: 'waiting' });
              hasSaidWait = true;
            }
            hasSeenRun ||= hasRuns;
            if (flags.untilIdleMs !== undefined && forMs >= flags.untilIdleMs) return true;
            return flags.untilDone && hasSeenRun && !hasRuns;
          },
          openService: async (working, job) => {
            const opened = openWorkerService(working, job, trust, context);
            // Where any run will do, one that this worker may not or cannot send is for others.
            const service = await (flags.run === undefined ? opened.catch(explainUserError) : opened);
            if (typeof service === 'string') {
              log.warn(`This worker leaves run ${working.run} to others. ${service}`, { run: working.run });
              return undefined;
            }
            return { ...service, createLane: cluster.laneFor(service.job.service) };
          },
          emit,
          onWork: (working, job) => {
            hasSeenRun = true;
            const { kind } = rowStepOf(job, working.step);
            emit({ type: 'step', job: job.name, step: working.step, kind });
            if (run === working.run) return;
            run = working.run;
            log.info(`works on run ${working.run} of job ${job.name}, step ${working.step}`, {
              event: 'work',
              step: working.step,
            });
          },
        },
        stop,
        {
          store: cluster.store,
          clock,
          random,
          onProgress: rows.note,
          onAttempt: (attempt) => emit({ type: 'attempt', ...attempt }),
          onNotice: (notice, fields) => log.warn(notice, fields),
        },
      );
      const end = await working.catch((error: unknown) => {
        if (!(error instanceof StoreLost)) throw error;
        return { reason: 'unavailable', detail: error.message } as const;
      });
      const stopped = stop.reason ?? end;
      const reason = stopped?.detail;
      const exitCode = reason === undefined ? EXIT.ok : EXIT.again;
      const { accepted, rejected, inDoubt } = rows.total;
      const figures = `${countOf(accepted, 'row')} accepted, ${rejected} rejected, ${inDoubt} in doubt`;
      return {
        json: {
          state: reason === undefined ? 'finished' : 'stopped',
          exitCode,
          error: stopped === undefined ? null : describeStop(stopped),
          reason: reason ?? null,
          rows: rows.total,
        },
        text: `This worker: ${figures}.\n${stopped === undefined ? '' : `It stopped (${stopped.reason}): ${escapeText(stopped.detail)}.\n`}`,
        exitCode,
        reason: reason ?? `nothing left to do; ${figures}`,
      };
    } finally {
      await cluster.close();
    }
  });
}

function explainUserError(error: unknown): string {
  if (!(error instanceof UserError)) throw error;
  return `${error.message}. ${error.hint ?? ''}`.trimEnd();
}

/** A text says why this worker cannot: an embedded sandbox serves its own process alone. */
async function openWorkerService(
  { run }: WorkingRun,
  job: WorkerJob | undefined,
  trust: WorkerTrust,
  context: Context,
): Promise<Omit<WorkerService, 'createLane'> | string> {
  if (job === undefined) return `It was begun by another version of Volley.`;
  const { service, steps, name } = job;
  if (service.sandbox) return `Job ${name} is sent to a sandbox within its leader.`;
  assertTrusted(run, job, trust);
  const read = readSecrets(service.credentials, areasOf(steps.filter(isRowStep)), context);
  const found = await read.catch((error: unknown) => {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(error.code, `Cannot work on run ${run} of job ${name}: ${error.message}`, {
      hint: 'A worker reads the same secrets as the job: the same variables, or the same files.',
    });
  });
  const transport = await openTransport(context, service);
  return { job, transport, authorize: createAuthorize(found), close: () => transport.close() };
}

type Counts = Pick<Progress, 'accepted' | 'rejected' | 'inDoubt' | 'settled'>;

const NONE: Counts = { accepted: 0, rejected: 0, inDoubt: 0, settled: 0 };

/** What one worker has settled. Each time that it takes up a step, its progress counts from zero. */
class SentRows {
  #before = NONE;
  #now = NONE;

  readonly note = (progress: Progress): void => {
    if (progress.settled < this.#now.settled) this.#before = { ...this.total, settled: 0 };
    this.#now = progress;
  };

  get total(): Omit<Counts, 'settled'> {
    const add = (of: keyof Counts) => this.#before[of] + this.#now[of];
    return { accepted: add('accepted'), rejected: add('rejected'), inDoubt: add('inDoubt') };
  }
}

/** Milliseconds of `60s` or `10m`. */
function readIdle(given: string): number | undefined {
  const [, count, unit] = /^(\d{1,5})([sm])$/.exec(given) ?? [];
  return count === undefined ? undefined : Number(count) * (unit === 'm' ? 60_000 : 1000);
}
