import { join } from 'node:path';
import { UserError } from '../domain/errors.js';
import type { Files } from '../storage/files.js';
import { JOURNAL_FILE, PLAN_FILE, type Plan, RECEIPTS_FILE, readPlan } from './format/plan-file.js';

/** Holds plan.json while the draft is replaced. */
const TAKEN_PLAN = `.${PLAN_FILE}.taken`;

/**
 * Puts a new plan in the place of a draft with the same id: the same requests may have been planned before under other limits or
 * guards. Once begun, a plan stays as it is. The draft's directory and the receipts in it stay too: a listener may be writing there.
 *
 * A planner that was paused may have lost the lock, and its successor begun the draft. So each makes its mark before it looks for
 * the other's: here plan.json is taken away, without which there is no plan, and then a journal looked for; a runner makes the journal,
 * and then looks for plan.json (`assertInPlace`). One of the two sees the other, and nothing of a run is ever removed.
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

/** Gives a begun run its plan.json back, where the planner that had taken it away died before it could. Tells whether it did. */
export async function restoreTaken(files: Files, directory: string): Promise<boolean> {
  const isThere = async (name: string) => (await files.stat(join(directory, name))) !== undefined;
  if (!(await isThere(TAKEN_PLAN)) || !(await isThere(JOURNAL_FILE))) return false;
  await files.rename(join(directory, TAKEN_PLAN), join(directory, PLAN_FILE));
  return true;
}

async function assertNotBegun(files: Files, directory: string): Promise<void> {
  if ((await files.stat(join(directory, JOURNAL_FILE))) === undefined) return;
  // Whoever holds the job's lock knows its runs: another process took it in this very moment.
  throw new UserError('lock-held', `Cannot plan: another process has run the job, and applied ${directory}`, {
    hint: 'Run the same command again; nothing was sent twice.',
  });
}

/** Refuses to go on with a plan that another process has put another in the place of, or is about to. Sure only where the caller has made its journal. */
export async function assertInPlace(files: Files, directory: string, plan: Plan): Promise<void> {
  const isThere = (await files.stat(join(directory, PLAN_FILE))) !== undefined;
  if (isThere && JSON.stringify(await readPlan(files, directory)) === JSON.stringify(plan)) return;
  throw new UserError('lock-held', `Cannot run ${directory}: another process is making its plan again`, {
    hint: 'Run the same command again; nothing more was sent.',
  });
}
