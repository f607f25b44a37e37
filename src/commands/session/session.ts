import { dirname } from 'node:path';
import { envOf, type Host, openLog } from '../../command/deps.js';
import { placeDiskErrors } from '../../command/disk-error.js';
import { type Env, lockDepsOf, namePerson } from '../../command/env.js';
import { type OpenService, openService } from '../../command/open-service.js';
import { openRunDirectory } from '../../command/run-directory.js';
import { drainOnSignal, endSoonAfter } from '../../command/signals.js';
import { SecretKeeper } from '../../command/terminal.js';
import { jobDirectoryOf } from '../../command/with-job.js';
import { UserError } from '../../domain/errors.js';
import type { Job } from '../../job/job.js';
import type { Plan } from '../../plan/format/plan-file.js';
import { checkGuards } from '../../plan/guards.js';
import type { PlanOutcome } from '../../plan/make-plan.js';
import { type Log, withFields } from '../../ports/log.js';
import { readHistory } from '../../registry/history.js';
import { readOpenDoubt } from '../../registry/open-doubt.js';
import { openRegistry } from '../../registry/open-registry.js';
import type { Registry } from '../../registry/registry.js';
import type { OpenDoubt, Summary } from '../../report/summary.js';
import { assertOwned } from '../../retry/assert-owned.js';
import { describeWaiting, listWaiting } from '../../retry/list-waiting.js';
import { assertTested } from '../../run/assert-tested.js';
import { moveInputs } from '../../run/move-inputs.js';
import { assertInputsUnchanged, type RunSettings } from '../../run/resume.js';
import { assertDue, waitUntilDue } from '../../run/run-times.js';
import { StopSwitch } from '../../run/stop.js';
import { acquireLock, type Lock } from '../../storage/lock.js';
import type { OpenCluster } from '../cluster/open-cluster.js';
import { applyThenReport } from './apply-then-report.js';
import { planNewInput } from './plan-new-input.js';

/** What a command that may send holds while it works on a job: lock, access to the service, stop switch. */
export interface JobSession {
  readonly jobDirectory: string;
  readonly lock: Lock;
  readonly registry: Registry;
  readonly log: Log;
  readonly stop: StopSwitch;
  readonly runtime: Env;
  applyAndReport(directory: string, plan: Plan, settings: RunSettings): Promise<Summary>;
  /** Of a finished run, whose process died before it had done all that follows. */
  report(directory: string, plan: Plan): Promise<Summary>;
}

/** Reads all input of a job and plans what is new, behind the job's lock; sends nothing, and leaves the guards to the caller. */
export async function planJobInput(
  host: Host,
  job: Job,
  { isAgain, signal, adopt }: { isAgain: boolean; signal: AbortSignal; adopt?: boolean | undefined },
): Promise<PlanOutcome> {
  const jobDirectory = jobDirectoryOf(job);
  const runtime = envOf(host);
  const log = withFields(openLog(host, new SecretKeeper()), () => ({ job: job.name }));
  return placeDiskErrors(jobDirectory, async () => {
    const lock = await acquireLock(lockDepsOf(runtime, log), jobDirectory);
    try {
      return await endSoonAfter({ signal, clock: runtime.clock }, async () => {
        const registry = await openJobRegistry({ jobDirectory, lock, log, runtime, adopt });
        const history = await readHistory(runtime.files, jobDirectory);
        return planNewInput(job, { host, log, history, registry, isAgain, signal, lock });
      });
    } finally {
      await lock.release();
    }
  });
}

/**
 * Sends exactly the plan in a run directory, or resumes it, and writes its outputs. Refuses before anything is sent: a
 * plan other than `confirm`, changed input, a guard, files that another run took.
 */
export async function applyRunDirectory(
  host: Host,
  run: string,
  {
    confirm,
    ignoreChangedInputs,
    adopt,
    wait,
    onOpened = () => {},
  }: SessionFlags & {
    confirm: string | undefined;
    ignoreChangedInputs: boolean;
    /** Called first. */
    onOpened?: (plan: Plan) => void;
  },
): Promise<{ plan: Plan; testedRun: string | undefined; summary: Summary; openDoubt: OpenDoubt }> {
  const { directory, plan, testedRun } = await openRunDirectory(run, envOf(host).files, { adopt });
  onOpened(plan);
  if (confirm !== undefined && confirm !== plan.id) {
    throw new UserError('plan-mismatch', `Cannot apply ${directory}: its plan is ${plan.id}, expected ${confirm}`, {
      hint: 'Review the plan again; nothing was sent.',
    });
  }
  checkGuards(plan, plan.job.guards);
  const about = { job: plan.job, jobDirectory: dirname(directory), adopt, wait };
  if (wait !== true) assertDue(plan.job, envOf(host).clock);
  const summary = await withSession(host, about, async (session) => {
    const { jobDirectory, registry, runtime } = session;
    const reading = { signal: session.stop.nothingNew, clock: runtime.clock, doing: 'apply the plan' };
    const history = await endSoonAfter(reading, async () => {
      await registry.assertOwn(plan.id);
      registry.assertNotTaken(plan);
      const runs = await readHistory(runtime.files, jobDirectory);
      const isFinished = runs.some((run) => run.plan.id === plan.id && run.state === 'finished');
      if (!ignoreChangedInputs && !isFinished) await assertUnchanged(plan, runtime);
      const sources = { files: runtime.files, registry: registry.state, history: runs };
      await assertOwned(sources, { plan, directory, directories: registry.directories });
      if (!isFinished) await assertTested(runtime.files, { directory, plan, guards: plan.job.guards }, registry.state);
      return runs;
    });
    await registry.claimReimported({ directory, plan }, history);
    const summary = await session.applyAndReport(directory, plan, plan.job);
    await moveInputs(plan.job, { ...session, ...runtime }, plan.id);
    return summary;
  });
  const isSandbox = plan.job.service.sandbox;
  const openDoubt = await readOpenDoubt(envOf(host).files, dirname(directory), { isSandbox });
  return { plan, testedRun, summary, openDoubt };
}

/** What the flags of a command that sends say about its session. */
interface SessionFlags {
  /** Accepts a copied or restored job directory. */
  readonly adopt?: boolean | undefined;
  /** Waits for the job's `notBefore`. */
  readonly wait?: boolean | undefined;
}

/** Takes the job's lock for the length of the task. A signal stops the run; a second one leaves at once. */
export async function withSession<T>(
  host: Host,
  { job, jobDirectory, adopt, wait }: { job: Job; jobDirectory: string } & SessionFlags,
  task: (session: JobSession) => Promise<T>,
): Promise<T> {
  const secrets = new SecretKeeper();
  let run: string | undefined;
  const log = withFields(openLog(host, secrets), () => ({ job: job.name, run }));
  const stop = new StopSwitch();
  const runtime = envOf(host);
  const stopListening = drainOnSignal(host, { log, stop, clock: runtime.clock });
  try {
    return await placeDiskErrors(jobDirectory, async () => {
      const lock = await acquireLock(lockDepsOf(runtime, log), jobDirectory);
      try {
        await host.emit?.({ type: 'begin', jobDirectory });
        // It may read from a hanging disk.
        const opening = { signal: stop.nothingNew, clock: runtime.clock, doing: 'open the job' };
        const registry = await endSoonAfter(opening, () =>
          openJobRegistry({ jobDirectory, lock, log, runtime, adopt }),
        );
        return await withAccess(job, { host, secrets, log, stop, jobDirectory }, async (access) => {
          const context = { lock, registry, stop, ...access, host, log, runtime };
          let sentUntilMs: number | undefined;
          const applyAndReport: JobSession['applyAndReport'] = async (directory, plan, settings) => {
            run = plan.id;
            if (wait === true) await waitUntilDue(settings, { log, clock: runtime.clock, signal: stop.nothingNew });
            assertDue({ ...settings, name: job.name }, runtime.clock);
            const othersSentMsAgo =
              sentUntilMs === undefined ? lock.lastOwnedMsAgo : runtime.clock.monotonicMs() - sentUntilMs;
            try {
              return await applyThenReport({ ...context, directory, plan, settings, othersSentMsAgo });
            } finally {
              sentUntilMs = runtime.clock.monotonicMs();
            }
          };
          const report: JobSession['report'] = (directory, plan) =>
            applyThenReport({ ...context, directory, plan, settings: plan.job, othersSentMsAgo: undefined });
          const done = await task({ jobDirectory, lock, registry, log, stop, runtime, applyAndReport, report });
          await reportWaiting({ registry, log, runtime });
          return done;
        });
      } finally {
        await lock.release();
      }
    });
  } finally {
    stopListening();
  }
}

interface Opening {
  readonly host: Host;
  readonly secrets: SecretKeeper;
  readonly log: Log;
  readonly stop: StopSwitch;
}

/** To the service and to the database of the job, closed again whatever happens, also where only the second cannot be opened. */
async function withAccess<T>(
  job: Job,
  { jobDirectory, ...opening }: Opening & { readonly jobDirectory: string },
  task: (access: { service: OpenService; cluster: OpenCluster | undefined }) => Promise<T>,
): Promise<T> {
  const { host, secrets, stop } = opening;
  // Behind the lock: an embedded sandbox keeps its state in the job's directory.
  const service = await openService(job, { host, secrets, jobDirectory, signal: stop.nothingNew });
  try {
    const cluster = await openJobCluster(job, opening);
    try {
      return await task({ service, cluster });
    } finally {
      await cluster?.close();
    }
  } finally {
    await service.close();
  }
}

/** Loads nothing of it for a job without. */
async function openJobCluster({ cluster, service }: Job, context: Opening): Promise<OpenCluster | undefined> {
  if (cluster === undefined) return undefined;
  const { openCluster } = await import('../cluster/open-cluster.js');
  const { giveUpAfterSeconds } = service;
  return openCluster(cluster, { ...context, giveUpAfterSeconds });
}

/** The job's memory, behind its lock. */
export function openJobRegistry({
  jobDirectory,
  lock,
  log,
  runtime,
  adopt = false,
}: {
  jobDirectory: string;
  lock: Lock;
  log: Log;
  runtime: Env;
  adopt?: boolean | undefined;
}): Promise<Registry> {
  const adoptedBy = adopt ? namePerson(runtime) : undefined;
  return openRegistry(runtime, { jobDirectory, lock, adoptedBy, onNotice: (notice) => log.warn(notice) });
}

/** Only the claiming plan sends claimed rows: if it is never applied, they are lost. */
async function reportWaiting({
  registry,
  log,
  runtime,
}: Pick<JobSession, 'registry' | 'log' | 'runtime'>): Promise<void> {
  for (const waiting of await listWaiting(runtime.files, registry.directories, registry.state)) {
    log.warn(describeWaiting(waiting), { run: waiting.plan.id });
  }
}

/** Refuses when an input of an unfinished run has changed. */
export async function assertUnchanged(plan: Plan, { files, loadReader }: Env): Promise<void> {
  const { digestInput } = await loadReader();
  await assertInputsUnchanged(plan, { files, digestInput });
}
