import { dirname, join } from 'node:path';
import { UserError } from '../domain/errors.js';
import type { Job } from '../job/job.js';
import type { RowStatusView } from '../journal/row-status-view.js';
import { notePeople } from '../people/people-memory.js';
import type { PlanAt } from '../plan/format/plan-file.js';
import { assertPlanWhole } from '../plan/format/planned-files.js';
import { lockJob } from '../registry/memory-file.js';
import { looksCopied, openRegistry, readRegistry } from '../registry/open-registry.js';
import type { Registry } from '../registry/registry.js';
import type { RegistryState } from '../registry/registry-state.js';
import { writeRunReport } from '../registry/write-run-report.js';
import type { Summary } from '../report/summary.js';
import { checkNames } from '../report/write-from-growing.js';
import type { Files } from '../storage/files.js';
import type { Lock } from '../storage/lock.js';
import { LEASE_MS, OwnerWatch } from '../storage/lock-file.js';
import type { Context } from './context.js';
import { lockDepsOf } from './env.js';
import { endSoon } from './signals.js';

/** A job, as one process at a time holds it. */
export interface HeldJob {
  readonly directory: string;
  readonly lock: Lock;
  /** Its memory. */
  readonly registry: Registry;
  /** What the job remembered before, where this process stood by. */
  readonly before?: RegistryState | undefined;
}

/** Does a task behind the lock of a job's directory, once its memory was found as it was left. `standsBy`: waits for the lock. */
export async function withJob<T>(
  context: Context,
  directory: string,
  task: (job: HeldJob) => Promise<T>,
  standsBy = false,
): Promise<T> {
  const { env, log, adoptedBy } = context;
  context.workIn(directory);
  const acquire = (watch?: OwnerWatch) => lockJob(lockDepsOf(env, log), directory, watch);
  const { lock, before } = standsBy
    ? await standBy(context, directory, acquire)
    : { lock: await acquire(), before: undefined };
  try {
    await context.emit({ type: 'begin', jobDirectory: directory });
    const onNotice = (notice: string) => log.warn(notice);
    // It may read from a hanging disk.
    const registry = await endSoon(context, 'open the job', () =>
      openRegistry(env, { jobDirectory: directory, lock, adoptedBy, onNotice }),
    );
    return await task({ directory, lock, registry, before });
  } finally {
    await lock.release();
  }
}

/** How often to look at the lock of the process that has the job. */
const LOOK_EVERY_MS = 1_000;

/**
 * Waits until the process that has the job is gone, then takes its lock: at once where it released it or is dead on this host, else after a lease in
 * which its file did not change. Says once for each owner whom it waits for. A signal ends it. `before`: what the job remembered before it waited,
 * so that what others did meanwhile can be told from it.
 */
async function standBy(
  { env, log, stop }: Pick<Context, 'env' | 'log' | 'stop'>,
  directory: string,
  acquire: (watch: OwnerWatch) => Promise<Lock>,
): Promise<{ lock: Lock; before: RegistryState }> {
  const before = await readRegistry(env.files, directory);
  const watch = new OwnerWatch();
  let awaited = '';
  const ports = lockDepsOf(env);
  let isCopy: boolean | undefined;
  for (;;) {
    const lock = await acquire(watch).catch((error: unknown) => {
      if (!(error instanceof UserError) || error.code !== 'lock-held') throw error;
    });
    const who = describeOwner(watch);
    if (lock !== undefined) {
      if (awaited !== '') log.info(`takes over the job: ${who} ${describeEnd(watch)}`, { event: 'takeover' });
      return { lock, before };
    }
    if (who !== awaited) {
      log.info(`stands by: ${who} is running the job; this process takes over when that one is gone`, {
        event: 'standby',
      });
    }
    awaited = who;
    if (isCopy === undefined) {
      // Twice: its owner may have written anew what was just read.
      isCopy = (await looksCopied(ports, directory)) && (await looksCopied(ports, directory));
      if (isCopy === true)
        log.warn(
          `could not take over: ${directory} looks like a copy here. Both machines must mount the volume at the same path, and not by sshfs or alike`,
        );
    }
    await env.clock.sleep(LOOK_EVERY_MS, stop.nothingNew);
    if (!stop.isRequested) continue;
    throw new UserError('lock-held', `Cannot run this job: ${stop.reason?.detail} came while ${who} was running it`, {
      hint: 'This process sent nothing. The same command stands by again.',
    });
  }
}

function describeOwner({ last }: OwnerWatch): string {
  // A taker that has not written its file yet, or died before it did.
  if (last === undefined || last.pid === 0) return 'another process';
  return `process ${last.pid} on ${last.host.split('/')[0]}`;
}

function describeEnd({ last }: OwnerWatch): string {
  if (last?.state === 'released') return 'has ended';
  return last?.isGone === true ? 'has died' : `gave no sign of life for ${LEASE_MS / 1000} s`;
}

/** The directory of a job's runs, lock and sandbox. */
export function jobDirectoryOf(job: Job): string {
  return join(job.output.directory, job.name);
}

/** Where an embedded sandbox keeps its state, in the directory of the job. */
export const SANDBOX_DIRECTORY = 'sandbox';

/** What an embedded sandbox accepted of a job. */
export function sandboxLedgerOf(jobDirectory: string): string {
  return join(jobDirectory, SANDBOX_DIRECTORY, 'ledger.ndjson');
}

/** A run that has begun, or a plan, as one process at a time holds it. */
export interface HeldRun extends Omit<HeldJob, 'directory'>, PlanAt {
  /** Writes its outputs again, and has the memory know its end. */
  report(): Promise<Summary>;
}

/** Does a task behind the lock of a run's job, once its memory was found as it was left, and the plan of the run whole. */
export function withRun<T>(context: Context, { directory, plan }: PlanAt, task: (run: HeldRun) => Promise<T>) {
  return withJob(context, dirname(directory), async ({ lock, registry }) => {
    const { files } = context.env;
    await registry.assertOwn(plan.id);
    const outputs = checkNames(files, () => lock.assertHeld());
    await assertPlanWhole(files, directory, plan);
    const report = async () => {
      const summary = await writeOutputs(context, outputs, { directory, plan });
      await registry.noteEnded(summary);
      return summary;
    };
    return task({ directory, plan, lock, registry, report });
  });
}

export function writeOutputs({ env: { files, clock } }: Context, outputs: Files, run: PlanAt): Promise<Summary> {
  const onRows = (rows: RowStatusView) => notePeople(files, run, { rows, nowMs: clock.now() });
  return writeRunReport(outputs, run.directory, run.plan, { onRows });
}
