import { join } from 'node:path';
import { quoteWord, UserError } from '../../domain/errors.js';
import type { Files } from '../../storage/files.js';
import { encodePlan, JOURNAL_FILE, PLAN_FILE, type Plan, RECEIPTS_FILE, RUN_FILE, readPlan } from './plan-file.js';
import { readSealed } from './sealed-json.js';

/** A directory of a plan or a run, or what is left of one. */
export interface RunDirectory {
  readonly run: string;
  readonly path: string;
  readonly hasPlan: boolean;
  /** The run was begun. */
  readonly hasJournal: boolean;
}

/**
 * Where the runs of a job are, by plan id. A directory is named `2026-11-22T0930-k3v9q2m8x4aa`: when it was planned, in UTC, and the
 * plan id, so that names sort by time. The directory of the job is read once: who makes a run holds
 * the job's lock.
 */
export class RunDirectories {
  readonly jobDirectory: string;
  readonly #names: readonly string[];
  readonly #namesOf = new Map<string, string[]>();

  private constructor(jobDirectory: string, names: readonly string[]) {
    this.jobDirectory = jobDirectory;
    this.#names = names;
    for (const name of names) {
      const id = readRunName(name);
      this.#namesOf.set(id, [...(this.#namesOf.get(id) ?? []), name]);
    }
  }

  static async read(files: Files, jobDirectory: string): Promise<RunDirectories> {
    return new RunDirectories(jobDirectory, await files.list(jobDirectory));
  }

  /** Lists the directories of plans and runs, in the order of their names; a pruned run has neither plan nor journal. */
  async *list(files: Files, isWanted: (path: string) => boolean = () => true): AsyncGenerator<RunDirectory> {
    for (const name of this.#names) {
      // What a planner is at, or left behind.
      const path = join(this.jobDirectory, name);
      if (name.startsWith('.') || !isWanted(path)) continue;
      const isThere = async (file: string) => (await files.stat(join(path, file))) !== undefined;
      const hasPlan = await isThere(PLAN_FILE);
      const hasJournal = await isThere(JOURNAL_FILE);
      if (hasPlan || hasJournal || (await isThere(RUN_FILE)))
        yield { run: readRunName(name), path, hasPlan, hasJournal };
    }
  }

  /** The directory of a run that is there. Refuses, with 'bad-plan', two that end in one id: one is a copy, and would send everything again. */
  find(id: string): string | undefined {
    const [name, ...others] = this.#namesOf.get(id) ?? [];
    if (others.length > 0) {
      throw new UserError(
        'bad-plan',
        `Cannot use run ${id}: ${[name, ...others].join(' and ')} end in its id, expected one directory of it in ${this.jobDirectory}`,
        { hint: 'Move the copy out of that directory: it would send everything again.' },
      );
    }
    return name === undefined ? undefined : join(this.jobDirectory, name);
  }

  /** The directory of a run; of one that is gone, where it would be. */
  of(id: string): string {
    return this.find(id) ?? join(this.jobDirectory, id);
  }

  /** Where a plan is made: where it stands already, else in a directory of a new name. */
  place(id: string, nowMs: number): string {
    this.remember(id, `${new Date(nowMs).toISOString().slice(0, 16).replace(':', '')}-${id}`);
    return this.of(id);
  }

  /** Notes how the directory of a run that is not there was, or will be, named. */
  remember(id: string, name: string): void {
    if (!this.#namesOf.has(id)) this.#namesOf.set(id, [name]);
  }
}

const START = /^\d{4}-\d{2}-\d{2}T\d{4}-/;

/** The plan id in the name of a run directory. */
export function readRunName(name: string): string {
  return name.replace(START, '');
}

/** Name of plan.json while an unstarted plan is replaced. */
const TAKEN_PLAN = `.${PLAN_FILE}.taken`;

/**
 * Replaces an unstarted plan with the same id: the same requests may have been planned before under other limits or
 * guards. A begun plan is never replaced. Directory and receipts stay: a listener may be writing there.
 *
 * A paused planner may have lost the lock, and its successor begun the plan. So each writes its mark before it checks
 * for the other's: the planner moves plan.json away, then checks for a journal; a runner creates the journal, then
 * checks for plan.json (`assertInPlace`). One of the two sees the other, and nothing of a run is ever removed.
 */
export async function replaceDraft(files: Files, scratch: string, directory: string): Promise<void> {
  await assertNotBegun(files, directory);
  if ((await files.stat(directory)) === undefined) return files.rename(scratch, directory);
  const [planPath, takenPath] = [join(directory, PLAN_FILE), join(directory, TAKEN_PLAN)];
  const isWhole = (await files.stat(planPath)) !== undefined;
  if (isWhole) await files.rename(planPath, takenPath);
  try {
    await assertNotBegun(files, directory);
  } catch (error) {
    if (isWhole) await files.rename(takenPath, planPath);
    throw error;
  }
  const made = await files.list(scratch);
  const isKept = (name: string) => name === RECEIPTS_FILE || name === JOURNAL_FILE || name.startsWith('.');
  for (const name of await files.list(directory)) {
    if (!isKept(name) && !made.includes(name)) await files.remove(join(directory, name));
  }
  for (const name of made) {
    if (name !== PLAN_FILE) await files.rename(join(scratch, name), join(directory, name));
  }
  await files.rename(join(scratch, PLAN_FILE), planPath);
  await files.remove(takenPath);
}

/**
 * The plan as it is written over an unstarted one of the same id: one that differs by its planner alone stays as it was, with its approvals.
 * Refuses one that asks for less approval than that: only `volley abandon`, which notes who, takes such a plan away.
 */
export async function keepDraft(files: Files, directory: string, plan: Plan): Promise<Plan> {
  const text = await files.readText(join(directory, PLAN_FILE));
  const draft: Plan | undefined = text === undefined ? undefined : readSealed(text);
  if (draft?.format !== plan.format) return plan;
  const [before, now] = [draft.job.guards.requireApproval ?? 0, plan.job.guards.requireApproval ?? 0];
  const isSame = JSON.stringify(draft.job.approvers) === JSON.stringify(plan.job.approvers);
  if (now < before || (before > 0 && !isSame)) {
    throw new UserError(
      'guard',
      `Cannot plan ${plan.id} anew: it waits for approval (guards.requireApproval ${before}), and the job asks for less, or for other approvers`,
      { hint: `Nothing was sent. To let that plan go: \`volley abandon ${quoteWord(directory)}\`; then plan again.` },
    );
  }
  const kept = { ...plan, plannedBy: draft.plannedBy };
  return encodePlan(kept) === text ? kept : plan;
}

/** Restores the plan.json of a begun run, if the planner that moved it away died. Returns whether it did. */
export async function restoreTaken(files: Files, directory: string): Promise<boolean> {
  const isThere = async (name: string) => (await files.stat(join(directory, name))) !== undefined;
  if (!(await isThere(TAKEN_PLAN)) || !(await isThere(JOURNAL_FILE))) return false;
  await files.rename(join(directory, TAKEN_PLAN), join(directory, PLAN_FILE));
  return true;
}

async function assertNotBegun(files: Files, directory: string): Promise<void> {
  if ((await files.stat(join(directory, JOURNAL_FILE))) === undefined) return;
  // The lock's owner knows its runs, so another process has just taken the lock.
  throw new UserError('lock-held', `Cannot plan: another process has run the job, and applied ${directory}`, {
    hint: 'Run the same command again; nothing was sent twice.',
  });
}

/**
 * Refuses to apply a plan that another process has replaced or is replacing. Reliable only after the caller has created
 * the journal.
 */
export async function assertInPlace(files: Files, directory: string, plan: Plan): Promise<void> {
  const isThere = (await files.stat(join(directory, PLAN_FILE))) !== undefined;
  if (isThere && JSON.stringify(await readPlan(files, directory)) === JSON.stringify(plan)) return;
  throw new UserError('lock-held', `Cannot run ${directory}: another process is making its plan again`, {
    hint: 'Run the same command again; nothing more was sent.',
  });
}
