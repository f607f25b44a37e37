import { dirname, join } from 'node:path';
import type { Job } from '../job/job.js';
import type { RowStatusView } from '../journal/row-status/row-status-view.js';
import { notePeople } from '../people/people-memory.js';
import type { Plan } from '../plan/format/plan-file.js';
import { assertPlanWhole } from '../plan/format/planned-files.js';
import { listMemories } from '../registry/memory-file.js';
import { openRegistry } from '../registry/open-registry.js';
import type { Registry } from '../registry/registry.js';
import { writeRunReport } from '../registry/write-run-report.js';
import { checkNames } from '../report/name-check.js';
import type { Summary } from '../report/summary.js';
import { acquireLock, type Lock } from '../storage/lock.js';
import type { Context } from './context.js';
import { placeDiskErrors } from './disk-error.js';
import { lockDepsOf } from './env.js';
import { endSoon } from './signals.js';

/** A job, as one process at a time holds it. */
export interface HeldJob {
  readonly directory: string;
  readonly lock: Lock;
  /** Its memory. */
  readonly registry: Registry;
}

/** Does a task behind the lock of a job's directory, once its memory was found as it was left; errors of the disk say where they struck. */
export function withJob<T>(context: Context, directory: string, task: (job: HeldJob) => Promise<T>): Promise<T> {
  const { env, log, adoptedBy } = context;
  return placeDiskErrors(directory, async () => {
    const [above] = await listMemories(env.files, directory);
    const lock = await acquireLock(lockDepsOf(env, log), directory, above);
    try {
      await context.emit({ type: 'begin', jobDirectory: directory });
      const onNotice = (notice: string) => log.warn(notice);
      // It may read from a hanging disk.
      const registry = await endSoon(context, 'open the job', () =>
        openRegistry(env, { jobDirectory: directory, lock, adoptedBy, onNotice }),
      );
      return await task({ directory, lock, registry });
    } finally {
      await lock.release();
    }
  });
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
export interface HeldRun extends Omit<HeldJob, 'directory'> {
  readonly directory: string;
  readonly plan: Plan;
  /** Writes its outputs again, and has the memory know its end. */
  report(): Promise<Summary>;
}

/** The same of a run: it was found as it was left, and its plan whole. The log's last line, and each from now on, names it. */
export function withRun<T>(
  context: Context,
  { directory, plan }: Pick<HeldRun, 'directory' | 'plan'>,
  task: (run: HeldRun) => Promise<T>,
): Promise<T> {
  context.name({ job: plan.job.name, run: plan.id });
  return withJob(context, dirname(directory), async ({ lock, registry }) => {
    const { files, clock } = context.env;
    await registry.assertOwn(plan.id);
    const outputs = checkNames(files, () => lock.assertHeld());
    await assertPlanWhole(files, directory, plan);
    const report = async () => {
      const onRows = async (rows: RowStatusView) => {
        await notePeople(files, { directory, plan }, { rows, nowMs: clock.now() });
      };
      const summary = await writeRunReport(outputs, directory, plan, { onRows });
      await registry.noteEnded(summary);
      return summary;
    };
    return task({ directory, plan, lock, registry, report });
  });
}
