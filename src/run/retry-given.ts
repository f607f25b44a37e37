import { join } from 'node:path';
import { UserError } from '../errors.js';
import type { Files } from '../files.js';
import { readJournal } from '../journal/reader.js';
import { JOURNAL_FILE, PLAN_FILE, type Plan, readPlan } from '../plan/file.js';
import { countingFor, GivenRows, readRowsOfOthers } from '../plan/other-plans.js';
import { readRowId } from '../steps/ids.js';
import type { PastRun } from './history.js';

/**
 * Refuses to begin a plan with rows of another run that are not its own: those of a plan that retries them must be given to
 * it by that run; and none may be had by another plan, because it was fed back, or retried, since. One that was begun has them.
 */
export async function assertGiven(
  files: Files,
  { plan, jobDirectory, history }: { plan: Plan; jobDirectory: string; history: readonly PastRun[] },
): Promise<void> {
  const { retryOf } = plan;
  if (history.some((run) => run.plan.id === plan.id && run.state !== 'planned')) return;
  const rows = plan.steps.reduce((sum, { counts }) => sum + counts.read, 0);
  if (retryOf !== undefined && (await countGiven(files, jobDirectory, plan)) < rows) {
    throw new UserError(
      'plan-mismatch',
      `Cannot apply plan ${plan.id}: run ${retryOf.run} has not given all its rows to it, they might be sent twice`,
      { hint: 'The command that made it did not come to its end: give the same `volley retry` again.' },
    );
  }
  await assertNotGiven(files, { plan, jobDirectory, history });
}

async function assertNotGiven(
  files: Files,
  { plan, jobDirectory, history }: { plan: Plan; jobDirectory: string; history: readonly PastRun[] },
): Promise<void> {
  const others = history.map((run) => ({ ...run, isBegun: run.state !== 'planned' }));
  // Of plans that retry the same rows, their run's journal tells which has them.
  const counting = countingFor(others, plan).filter(({ isBegun }) => isBegun || plan.retryOf === undefined);
  const given = new GivenRows(files, counting);
  const directory = join(jobDirectory, plan.id);
  const taken = new Map<string, number>();
  for await (const { kind, id } of readRowsOfOthers(files, { directory, plan })) {
    const run = readRowId(id)?.run;
    if (run !== undefined) await given.load(run);
    const by = given.planOf(kind, id);
    if (by !== undefined) taken.set(by, (taken.get(by) ?? 0) + 1);
  }
  if (taken.size === 0) return;
  const command = plan.retryOf === undefined ? 'volley plan` or `volley run' : 'volley retry';
  throw new UserError('plan-mismatch', `Cannot apply plan ${plan.id}: rows of it would be sent twice`, {
    hint: `Give the \`${command}\` that made it again: it leaves them out.`,
    problems: [...taken].map(([by, rows]) => ({ where: `plan ${by}`, message: `has ${rows} of its rows by now` })),
  });
}

export interface WaitingPlan {
  readonly directory: string;
  readonly plan: Plan;
  /** How many of another run's rows it was given. */
  readonly rows: number;
}

/** Plans of a job that were given rows of other runs, and that nobody has begun to send. */
export async function listWaiting(files: Files, jobDirectory: string): Promise<WaitingPlan[]> {
  const waiting: WaitingPlan[] = [];
  for (const name of await files.list(jobDirectory)) {
    const directory = join(jobDirectory, name);
    const isThere = async (file: string) => (await files.stat(join(directory, file))) !== undefined;
    if (name.startsWith('.') || !(await isThere(PLAN_FILE)) || (await isThere(JOURNAL_FILE))) continue;
    const plan = await readPlan(files, directory);
    const rows = await countGiven(files, jobDirectory, plan);
    if (rows > 0) waiting.push({ directory, plan, rows });
  }
  return waiting;
}

/** Rows that another run has given to a plan of its rows. */
async function countGiven(files: Files, jobDirectory: string, { id, retryOf }: Plan): Promise<number> {
  let rows = 0;
  if (retryOf === undefined) return rows;
  await readJournal(files, join(jobDirectory, retryOf.run, JOURNAL_FILE), ({ entry }) => {
    if (entry.type === 'retry' && entry.plan === id) for (const [, , count] of entry.rows) rows += count;
  });
  return rows;
}
