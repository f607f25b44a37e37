import { basename, dirname } from 'node:path';
import { listInputs } from '../../src/input/inputs.js';
import { readRecords } from '../../src/input/read-records.js';
import { digestContent, digestInput } from '../../src/input/text/byte-source.js';
import type { Job } from '../../src/job/job.js';
import { readPlan } from '../../src/plan/format/plan-file.js';
import type { PlanDeps } from '../../src/plan/plan-deps.js';
import { openRegistry } from '../../src/registry/open-registry.js';
import { readHistory } from '../../src/registry/read-runs.js';
import type { Registry } from '../../src/registry/registry.js';
import { assertOwned } from '../../src/retry/assert-owned.js';
import { listWaiting, type WaitingPlan } from '../../src/retry/claiming-plan.js';
import type { RetryChoice } from '../../src/retry/retry-plan.js';
import { retryRun } from '../../src/retry/retry-run.js';
import type { Lock } from '../../src/storage/lock.js';
import { type MadePlan, readRequests, readRows } from '../plan/a-plan.js';
import { aRun, type RunOptions } from '../run/a-run.js';
import { depsOf, withLock } from '../settle/an-export.js';

/** Retries rows of a run, behind the lock of its job. */
export function retry(made: MadePlan, only: RetryChoice['only'], codes: readonly string[] = [], job?: Job) {
  const { directory, plan, disk } = made;
  const planDeps: PlanDeps = {
    files: disk.files,
    reader: { listInputs, digestInput, digestContent, readRecords, spoolStandardInput: async () => {} },
    processId: 7,
    plannedBy: 'ann',
    onProgress: () => {},
    signal: new AbortController().signal,
  };
  const choice = { only, codes, person: 'ann on desk-7' };
  return withRegistry(made, (registry, lock) =>
    retryRun({ directory, plan, lock, registry, job }, choice, { ...depsOf(made), plan: planDeps }),
  );
}

/** Behind the lock of the run's job. */
function withRegistry<T>(made: MadePlan, task: (registry: Registry, lock: Lock) => Promise<T>): Promise<T> {
  const jobDirectory = dirname(made.directory);
  return withLock(made, async (lock) => {
    // A disk that a test made of a snapshot of another is a copy of it.
    const options = { jobDirectory, lock, adoptedBy: 'ann on desk-7', onNotice: () => {} };
    return task(await openRegistry(depsOf(made), options), lock);
  });
}

/** Plans of the job that have claimed rows and were never begun. */
export function waitingPlans(made: MadePlan): Promise<WaitingPlan[]> {
  return withRegistry(made, ({ state, directories }) => listWaiting(made.disk.files, directories, state));
}

/** The plan that a retry made; an error where it made none. */
export async function retriedPlan(...args: Parameters<typeof retry>): Promise<MadePlan> {
  const { made } = await retry(...args);
  if (made === undefined) throw new Error('there was nothing to retry');
  return planIn(args[0], made.directory);
}

export async function planIn(of: MadePlan, directory: string): Promise<MadePlan> {
  const { disk } = of;
  const plan = await readPlan(disk.files, directory);
  const step = plan.steps[0]!;
  return {
    ...{ plan, directory, disk, job: plan.job, step },
    requests: readRequests(disk, directory, step),
    rows: readRows(disk, directory, step),
  };
}

/** As `volley apply` does it: refused where it has not claimed its rows. */
export async function applyRetry(made: MadePlan, options: Partial<RunOptions> = {}) {
  const jobDirectory = dirname(made.directory);
  const { files } = made.disk;
  await withRegistry(made, async ({ state: registry }) => {
    const history = await readHistory(files, jobDirectory, registry);
    await assertOwned({ files, registry, history }, made);
  });
  return aRun({ ...options, made });
}

/** Directories of the plans of the job. */
export function plansOf({ disk, directory }: Pick<MadePlan, 'disk' | 'directory'>): string[] {
  const jobDirectory = dirname(directory);
  const directories = disk.list(jobDirectory).map((name) => `${jobDirectory}/${basename(name)}`);
  return directories.filter((directory) => disk.has(`${directory}/plan.json`));
}
