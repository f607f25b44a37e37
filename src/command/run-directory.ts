import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { UserError, undefinedOnUserError } from '../domain/errors.js';
import { loadJob } from '../job/load.js';
import { DEFAULT_OUTPUT } from '../job/schema/written-job.js';
import { JOURNAL_FILE, PLAN_FILE, type PlanAt, RECEIPTS_FILE, RUN_FILE, readPlan } from '../plan/format/plan-file.js';
import { RunDirectories } from '../plan/format/run-directories.js';
import { assertOwnName, assertOwnPlace, readRunFile } from '../plan/format/run-record.js';
import { assertJournalKept } from '../registry/find-faults.js';
import { readRegistry } from '../registry/open-registry.js';
import { refusePruned } from '../registry/registry-state.js';
import { readSummary, SUMMARY_FILE } from '../report/write-report.js';
import { isRetriedUnder } from '../run/resume.js';
import type { Files } from '../storage/files.js';
import type { Context } from './context.js';
import { jobDirectoryOf } from './with-job.js';

export interface OpenedRun extends PlanAt {
  /** The directory of the plan that was tested, where this run is a test. */
  readonly testedRun: string | undefined;
  /** The file of its job, where that was what the argument named, and its rows can be sent under it. */
  readonly jobFile: string | undefined;
}

/**
 * The run directory that an argument names, links followed, with its plan. Refuses one that does not stand where it was
 * made, in `<output>/<job>/`: lock and history stand beside it, and a copy would send everything once more.
 */
export async function openRunDirectory(context: Context, written: string): Promise<OpenedRun> {
  const { files } = context.env;
  const directory = await findRunPath(written, files);
  const found = await files.stat(directory);
  if (found?.isDirectory === true) return openRun(context, directory);
  const hint = 'Give the directory that volley plan or volley run printed; volley runs lists those of a job.';
  throw refuse(
    written,
    `${found === undefined ? 'it does not exist' : 'it is a file'}, expected a run directory`,
    hint,
  );
}

/**
 * The run that an argument means: a run directory is that run, a job's file or its directory the newest run of the
 * job, tests aside. `begun`: the newest begun run is preferred; one that was only planned has nothing to settle or retry.
 */
export async function openNamedRun(context: Context, written: string, begun = true): Promise<OpenedRun> {
  const { files } = context.env;
  const path = await findRunPath(written, files);
  const found = await files.stat(path);
  if (found === undefined)
    throw refuse(written, 'it does not exist, expected a run directory, a job file or its directory');
  if (found.isDirectory && (await isRunDirectory(path, files))) return openRun(context, path);
  const job = found.isDirectory ? undefined : await loadJob(written);
  const jobDirectory = job === undefined ? path : jobDirectoryOf(job);
  context.workIn(jobDirectory);
  const directory = await findNewestRun(jobDirectory, files, begun);
  if (directory === undefined)
    throw refuse(
      written,
      `there is no run in ${jobDirectory}, expected one`,
      'Plan or run the job first: volley plan, volley run.',
    );
  const newest = await openRun(context, directory);
  return job !== undefined && isRetriedUnder(job, newest.plan) ? { ...newest, jobFile: written } : newest;
}

/**
 * The path that an argument names, links followed. A run directory may be named by the plan id alone in place of its name, or by what shows
 * that a directory is one.
 */
export async function findRunPath(written: string, files: Files): Promise<string> {
  const path = await followLinks(resolve(written));
  const [found, parent] = [await files.stat(path), await files.stat(dirname(path))];
  if (found?.isDirectory === false && OWN_FILES.includes(basename(path))) return dirname(path);
  if (found !== undefined || parent?.isDirectory !== true) return path;
  return (await RunDirectories.read(files, dirname(path))).find(basename(path)) ?? path;
}

const OWN_FILES: readonly string[] = [PLAN_FILE, JOURNAL_FILE, RUN_FILE];

/** Recognized by its plan, or by what remains of a run whose plan is gone. */
async function isRunDirectory(path: string, files: Files): Promise<boolean> {
  const names = await files.list(path);
  return names.some((name) => OWN_FILES.includes(name) || /^\d+-.*\.(rows|requests)\.ndjson(\.gz)?$/.test(name));
}

/** The newest run of a job, tests aside, by when it began; by its file where it has not, which a copy without times makes anew. A pruned one is the last choice. */
export async function findNewestRun(jobDirectory: string, files: Files, begun = true): Promise<string | undefined> {
  const found: { directory: string; rank: number; atMs: number }[] = [];
  const begunAt = (await readRegistry(files, jobDirectory).catch(undefinedOnUserError))?.listBegunAt();
  for await (const { run, path, hasJournal } of (await RunDirectories.read(files, jobDirectory)).list(files)) {
    const plan = await files.stat(join(path, PLAN_FILE));
    const { record } = (await readRunFile(files, path)) ?? {};
    const isPruned = record?.pruned !== undefined;
    if (plan === undefined && !isPruned) continue;
    const rank = isPruned ? 0 : !begun || hasJournal ? 2 : 1;
    found.push({ directory: path, rank, atMs: begunAt?.get(run) ?? record?.begun?.at ?? plan?.modifiedMs ?? 0 });
  }
  found.sort((one, other) => one.rank - other.rank || one.atMs - other.atMs);
  for (const { directory, rank } of found.reverse())
    if (rank === 0 || (await readPlan(files, directory)).testOf === undefined) return directory;
  return undefined;
}

async function openRun(
  { env, adoptedBy, name, workIn }: Pick<Context, 'env' | 'adoptedBy' | 'name' | 'workIn'>,
  directory: string,
): Promise<OpenedRun> {
  const { files } = env;
  const jobDirectory = dirname(directory);
  workIn(jobDirectory);
  const { record } = (await readRunFile(files, directory)) ?? {};
  if (record?.pruned !== undefined) throw refusePruned(directory, { plan: record.plan, pruned: record.pruned });
  const plan = await readPlan(files, directory);
  assertOwnName(directory, plan);
  name({ job: plan.job.name, run: plan.id });
  const directories = await RunDirectories.read(files, jobDirectory);
  directories.find(plan.id);
  if (basename(jobDirectory) !== plan.job.name) {
    throw refuse(
      directory,
      `it holds run ${plan.id} of job ${plan.job.name}, expected it in …/${plan.job.name}/${basename(directory)}`,
      'Give the directory that `volley plan` or `volley run` printed; a copy of it would send everything again.',
    );
  }
  // The memory checks an adoption again under the lock.
  if (adoptedBy === undefined) {
    await assertOwnPlace(files, directory);
    await assertJournalKept(files, directory);
  }
  const { plan: tested = null } = plan.testOf ?? {};
  return { directory, plan, testedRun: tested === null ? undefined : directories.of(tested), jobFile: undefined };
}

/**
 * Opens the runs of all jobs in a directory of outputs, `<output>/<job>/<run>`, or in the `campaigns/` of a console, where each has its own. Refuses,
 * with 'bad-flag', the directory of one job or of a run: there would be none below.
 */
export async function openRunsBelow(context: Context, directory: string) {
  const { env, log } = context;
  const { files } = env;
  const { value } = await (await RunDirectories.read(files, directory)).list(files).next();
  const isRun = await isRunDirectory(directory, files);
  if (isRun || value !== undefined) {
    const what = isRun ? 'is a run' : 'has the runs of one job';
    const outputs = isRun ? dirname(dirname(directory)) : dirname(directory);
    throw new UserError('bad-flag', `Cannot use ${directory}: it ${what}, expected the directory of all jobs`, {
      hint: `Give ${outputs}.`,
    });
  }
  async function* listJobs(below = directory): AsyncGenerator<RunDirectories> {
    for (const name of await files.list(below)) {
      const path = join(below, name);
      if (name.startsWith('.') || (await files.stat(path))?.isDirectory !== true) continue;
      yield await RunDirectories.read(files, path);
      if (below === directory) yield* listJobs(join(path, DEFAULT_OUTPUT));
    }
  }
  /** Finds the run of a plan; undefined, with a warning that says why, where none can be used. */
  const find = async (plan: string): Promise<OpenedRun | undefined> => {
    for await (const directories of listJobs()) {
      try {
        const path = directories.find(plan);
        // It is one of many: the log is not of it.
        if (path !== undefined) return await openRun({ ...context, name: () => {}, workIn: () => {} }, path);
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        log.warn(error.message, { run: plan });
      }
    }
    return undefined;
  };
  async function* listBehind(): AsyncGenerator<OpenedRun> {
    for await (const directories of listJobs()) {
      for await (const { run, path, hasPlan } of directories.list(files)) {
        const opened = hasPlan && (await isBehind(path, files)) ? await find(run) : undefined;
        if (opened !== undefined) yield opened;
      }
    }
  }
  return { find, listBehind };
}

/** Whether the receipts of a run may say more than its outputs: they are newer, or rows are in doubt. */
async function isBehind(path: string, files: Files): Promise<boolean> {
  const receipts = await files.stat(join(path, RECEIPTS_FILE));
  if (receipts === undefined) return false;
  const writtenMs = (await files.stat(join(path, SUMMARY_FILE)))?.modifiedMs ?? 0;
  return writtenMs <= receipts.modifiedMs || (await readSummary(files, path))?.balance.inDoubt !== 0;
}

function refuse(path: string, what: string, hint?: string): UserError {
  return new UserError('bad-plan', `Cannot use ${path}: ${what}`, { hint });
}

/** A link to a run is that run; where only a directory above it is a link, such as one to a volume, the path stays as written. */
async function followLinks(path: string): Promise<string> {
  const follow = (each: string) => realpath(each).catch(() => each);
  const [real, realParent] = await Promise.all([follow(path), follow(dirname(path))]);
  return real === join(realParent, basename(path)) ? path : real;
}
