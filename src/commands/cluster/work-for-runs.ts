import { StoreLost, type WorkingRun } from '../../cluster/store.js';
import { type WorkerService, work } from '../../cluster/work.js';
import { rowStepOf, type WorkerJob } from '../../cluster/worker-job.js';
import { envOf, type Host, openLog } from '../../command/deps.js';
import { describeStop } from '../../command/failure.js';
import { openCluster } from '../../command/open-cluster.js';
import { assertSafeEnvironment } from '../../command/open-service.js';
import { printResult } from '../../command/print.js';
import { DATABASE_FLAGS, readSecrets } from '../../command/read-secrets.js';
import { type CommandEnd, logCommand } from '../../command/runner.js';
import { drainOnSignal } from '../../command/signals.js';
import { escapeText, SecretKeeper } from '../../command/terminal.js';
import { countOf } from '../../domain/count-of.js';
import { UserError } from '../../domain/errors.js';
import { type ClusterSettings, isRowStep } from '../../job/job.js';
import { areasOf } from '../../kinds/kinds.js';
import { meterWork } from '../../observe/meter-command.js';
import type { MetricsFlags } from '../../observe/metrics-outlets.js';
import { withFields } from '../../ports/log.js';
import { EXIT } from '../../report/exit-code.js';
import { watchTransport } from '../../run/run-event.js';
import { StopSwitch } from '../../run/stop.js';
import { createAuthorize } from '../../service/authorize.js';
import { scrubAnswers } from '../../service/scrub-answers.js';
import { SentRows } from './sent-rows.js';
import { assertTrusted, readTrust, type WorkerTrust } from './worker-trust.js';

export interface WorkFlags {
  readonly database: ClusterSettings['database'];
  /** The plan id of one run; undefined: any. */
  readonly run: string | undefined;
  readonly untilDone: boolean;
  readonly untilIdleMs: number | undefined;
  readonly leaseSeconds: number;
  /** Beside the service and this machine, and variables that begin with VOLLEY_ (worker-trust.ts). */
  readonly allowUrls: readonly string[];
  readonly allowSecrets: readonly string[];
  readonly json: boolean | undefined;
  readonly metrics?: MetricsFlags | undefined;
}

/** How long a worker waits for a database, or a service, that does not answer. */
const GIVE_UP_AFTER_SECONDS = 300;

/** `volley work`: claims and sends requests of runs that others lead. Returns the exit code. */
export function workForRuns(flags: WorkFlags, host: Host): Promise<number> {
  return logCommand(host, { command: 'work', run: flags.run }, () =>
    meterWork(host, flags.metrics, (host) => workNamed(flags, host)),
  );
}

async function workNamed(flags: WorkFlags, host: Host): Promise<CommandEnd> {
  assertSafeEnvironment(host);
  const trust = readTrust(flags);
  const secrets = new SecretKeeper();
  const runtime = envOf(host);
  const { clock, random } = runtime;
  let run: string | undefined;
  const log = withFields(openLog(host, secrets), () => ({ run }));
  const stop = new StopSwitch();
  const stopListening = drainOnSignal(host, { log, stop, clock });
  const settings = {
    database: flags.database,
    share: 'requests',
    leaseSeconds: flags.leaseSeconds,
    sendHere: true,
  } as const;
  const opening = {
    ...{ host, secrets, log, stop, giveUpAfterSeconds: GIVE_UP_AFTER_SECONDS },
    flags: DATABASE_FLAGS,
  };
  try {
    const cluster = await openCluster(settings, opening);
    const rows = new SentRows();
    let hasSeenRun = false;
    let hasSaidWait = false;
    try {
      const working = work(
        {
          only: flags.run,
          leaseMs: flags.leaseSeconds * 1000,
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
            const opened = openWorkerService(working, job, { host, secrets, trust });
            // Where any run will do, one that this worker may not or cannot send is for others.
            const service = await (flags.run === undefined ? opened.catch(explainUserError) : opened);
            if (typeof service === 'string') {
              log.warn(`This worker leaves run ${working.run} to others. ${service}`, { run: working.run });
              return undefined;
            }
            return { ...service, createLane: cluster.laneFor(service.job.service) };
          },
          emit: host.emit,
          onWork: (working, job) => {
            hasSeenRun = true;
            const { kind } = rowStepOf(job, working.step);
            host.emit?.({ type: 'step', job: job.name, step: working.step, kind });
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
          onAttempt: (attempt) => host.emit?.({ type: 'attempt', ...attempt }),
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
      await printResult(host, flags, {
        json: {
          state: reason === undefined ? 'finished' : 'stopped',
          exitCode,
          error: stopped === undefined ? null : describeStop(stopped),
          reason: reason ?? null,
          rows: rows.total,
        },
        text: `This worker: ${figures}.\n${stopped === undefined ? '' : `It stopped (${stopped.reason}): ${escapeText(stopped.detail)}.\n`}`,
      });
      return { exitCode, reason: reason ?? `nothing left to do; ${figures}` };
    } finally {
      await cluster.close();
    }
  } finally {
    stopListening();
  }
}

function explainUserError(error: unknown): string {
  if (!(error instanceof UserError)) throw error;
  return `${error.message}. ${error.hint ?? ''}`.trimEnd();
}

/** A text says why this worker cannot: an embedded sandbox serves its own process alone. */
async function openWorkerService(
  { run }: WorkingRun,
  job: WorkerJob | undefined,
  { host, secrets, trust }: { host: Host; secrets: SecretKeeper; trust: WorkerTrust },
): Promise<Omit<WorkerService, 'createLane'> | string> {
  if (job === undefined) return `It was begun by another version of Volley.`;
  const { service, steps, name } = job;
  if (service.sandbox) return `Job ${name} is sent to a sandbox within its leader.`;
  assertTrusted(run, job, trust);
  const read = readSecrets(service.credentials, areasOf(steps.filter(isRowStep)), { terminal: host, secrets });
  const found = await read.catch((error: unknown) => {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(error.code, `Cannot work on run ${run} of job ${name}: ${error.message}`, {
      hint: 'A worker reads the same secrets as the job: the same variables, or the same files.',
    });
  });
  const { clock, loadTransport } = envOf(host);
  const createTransport = await loadTransport();
  const watched = watchTransport(createTransport(service.timeouts), clock, host.emit);
  const transport = scrubAnswers(watched, secrets.values);
  return { job, transport, authorize: createAuthorize(found), close: () => transport.close() };
}
