import { basename, dirname, join } from 'node:path';
import { countOf } from '../domain/count-of.js';
import { messageOf } from '../domain/errors.js';
import { remember } from '../domain/is-object.js';
import { isRowStep, type Job } from '../job/job.js';
import { matchSteps } from '../job/planned-job.js';
import { PLAN_FILE } from '../plan/format/plan-file.js';
import type { Log } from '../ports/log.js';
import { type PastRun, readHistory } from '../registry/read-runs.js';
import type { Registry } from '../registry/registry.js';
import type { BegunRun } from '../registry/registry-state.js';
import type { Files } from '../storage/files.js';
import type { Lock } from '../storage/lock.js';

/** A file that a finished run took. */
interface Taken {
  readonly path: string;
  readonly shown: string;
  readonly sha256: string;
  readonly moveTo: string;
}

/**
 * `whenDone.moveTo`: moves files that finished runs took, by default all runs of the job, out of the inbox. A file is moved only if
 *
 *   1. the memory has the run's end: its outputs are on disk
 *   2. no unfinished run takes it, and no run has it as a suppression list
 *   3. its content is still what the run took: one that changed is a new file
 *
 * So a process may die at any moment, and the next one moves what is left. A name that is taken in the directory is no reason to
 * write over it. What cannot be moved is one warning; it stays, and is sent again only where the job repeats, as the memory has it.
 */
export async function moveInputs(
  job: Job,
  context: {
    readonly files: Files;
    readonly jobDirectory: string;
    readonly registry: Registry;
    readonly lock: Pick<Lock, 'assertHeld'>;
    readonly log: Log;
    readonly loadReader: () => Promise<{ digestInput: (path: string) => Promise<{ sha256: string }> }>;
  },
  run?: string,
): Promise<void> {
  if (!job.steps.some((step) => isRowStep(step) && step.input.whenDone !== undefined)) return;
  const { files, jobDirectory, registry, log } = context;
  let moved = 0;
  const failed: string[] = [];
  try {
    const history = await readHistory(files, jobDirectory, registry.state);
    const needed = listNeeded(history, registry);
    const ended = history.filter(({ plan }) => (run === undefined || plan.id === run) && hasEnded(plan.id, registry));
    const { digestInput } = await context.loadReader();
    const digestOf = once(async (path) => (await digestInput(path)).sha256);
    const makeOnce = once(files.makeDirectory);
    for (const taken of ended.flatMap((past) => listTaken(past, job))) {
      if (needed.has(taken.path)) continue;
      await context.lock.assertHeld();
      try {
        if (await moveTaken(taken, { files, digestOf, makeOnce })) moved += 1;
      } catch (error) {
        failed.push(`${taken.shown} (${describe(error)})`);
      }
    }
  } catch (error) {
    failed.push(describe(error));
  }
  if (moved > 0) log.info(`moved ${countOf(moved, 'input file')}: every row is accounted for (whenDone.moveTo)`);
  const [first, ...others] = failed;
  if (first === undefined) return;
  const more = others.length === 0 ? '' : `, and ${countOf(others.length, 'other')}`;
  const then = job.repeat === 'never' ? 'they are not sent again' : `they are sent again as repeat: ${job.repeat} says`;
  log.warn(
    `Cannot move input files (whenDone.moveTo): ${first}${more}, expected a directory on the same disk that volley may write; ${then}, and the next run tries once more`,
  );
}

/** Runs a task once for each path: several steps may have it. */
function once<T>(task: (path: string) => Promise<T>): (path: string) => Promise<T> {
  const begun = new Map<string, Promise<T>>();
  return (path) => remember(begun, path, () => task(path));
}

function hasEnded(plan: string, { state }: Registry): boolean {
  const known = state.runs.get(plan);
  return takesFiles(known) && known?.ended?.state === 'finished';
}

/** Retries and tests take none, nor does a plan whose process died before the memory had it. */
function takesFiles(run: BegunRun | undefined): boolean {
  return run !== undefined && run.begun.retryOf === null && run.begun.testOf === undefined;
}

function listNeeded(history: readonly PastRun[], { state }: Registry): ReadonlySet<string> {
  return new Set(
    history.flatMap(({ plan, state: runState }) => {
      const isUnfinished =
        runState !== 'planned' &&
        runState !== 'finished' &&
        takesFiles(state.runs.get(plan.id)) &&
        !state.isAbandoned(plan.id);
      return plan.steps.flatMap(({ inputs, suppression }) =>
        [...(isUnfinished ? inputs : []), ...suppression].map(({ path }) => path),
      );
    }),
  );
}

/** By the job as it is now: a directory that was wrong can be corrected. */
function listTaken({ plan }: PastRun, job: Job): Taken[] {
  const now = matchSteps(plan.job, job);
  return plan.steps.flatMap(({ number, inputs }) => {
    const step = job.steps[now[number - 1]?.at ?? -1];
    const whenDone = step !== undefined && isRowStep(step) ? step.input.whenDone : undefined;
    if (whenDone === undefined) return [];
    return inputs.map(({ path, file, sha256 }) => ({ path, shown: file, sha256, moveTo: whenDone.moveTo }));
  });
}

/** False where there is nothing to move. */
async function moveTaken(
  { path, sha256, moveTo }: Taken,
  deps: { files: Files; digestOf: (path: string) => Promise<string>; makeOnce: (path: string) => Promise<void> },
): Promise<boolean> {
  const { files, digestOf, makeOnce } = deps;
  const before = await files.stat(path);
  if (before?.isFile !== true || dirname(path) === moveTo) return false;
  // Standard input, and what a run wrote, stay with their run.
  if ((await files.stat(join(dirname(path), PLAN_FILE))) !== undefined) return false;
  if ((await digestOf(path)) !== sha256) return false;
  const now = await files.stat(path);
  if (now?.bytes !== before.bytes || now.modifiedMs !== before.modifiedMs || now.inode !== before.inode) return false;
  await makeOnce(moveTo);
  const target = await reserveName(files, moveTo, basename(path));
  try {
    await files.rename(path, target);
  } catch (error) {
    // It may have been moved all the same: only an empty file in its place is our own.
    const isStill = (await files.stat(path)) !== undefined && (await files.stat(target))?.bytes === 0;
    if (isStill) await files.remove(target);
    throw error;
  }
  await files.syncDirectory(dirname(path));
  return true;
}

/** An empty file under a name that none had: another job may move files there at this moment. */
async function reserveName(files: Files, directory: string, name: string): Promise<string> {
  const end = name.search(/(?:\.[^.]+)?(?:\.gz)?$/i);
  for (let count = 1; ; count += 1) {
    const target = join(directory, count === 1 ? name : `${name.slice(0, end)}-${count}${name.slice(end)}`);
    if (await files.createExclusive(target, '')) return target;
  }
}

function describe(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code);
  return messageOf(error);
}
