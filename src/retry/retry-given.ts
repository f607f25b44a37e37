import { join } from 'node:path';
import { UserError } from '../domain/errors.js';
import { readJournal } from '../journal/reader.js';
import { readRowId } from '../kinds/ids.js';
import { JOURNAL_FILE, PLAN_FILE, type Plan, readPlan } from '../plan/format/plan-file.js';
import { countingFor, GivenRows, type RowOfOther, readRowsOfOthers } from '../plan/reimport/other-plans.js';
import type { PastRun } from '../registry/history.js';
import { readRunRows } from '../report/read-run-rows.js';
import type { Files } from '../storage/files.js';
import { HeldRows } from './held-rows.js';
import { ReceivedRows } from './received-rows.js';

interface PlanInJob {
  readonly plan: Plan;
  readonly jobDirectory: string;
  /** Of the job, at this moment. */
  readonly history: readonly PastRun[];
}

/**
 * Refuses to begin a plan with rows of another run that are not its own: those of a plan that retries them must be given to
 * it by that run; and none may be had by another plan, because it was fed back, or retried, since, or be sent by now. One that was
 * begun has them; it is refused where a receipt tells of rows that it has yet to send.
 */
export async function assertGiven(files: Files, of: PlanInJob): Promise<void> {
  const { plan, jobDirectory, history } = of;
  const past = history.find((run) => run.plan.id === plan.id);
  if (past?.state === 'finished') return;
  const received = new ReceivedRows(files, jobDirectory);
  try {
    if (past?.state === 'unfinished') return await assertNotReceived(files, of, received);
    const { retryOf } = plan;
    const rows = plan.steps.reduce((sum, { counts }) => sum + counts.read, 0);
    if (retryOf !== undefined && (await countGiven(files, jobDirectory, plan)) < rows) {
      throw new UserError(
        'plan-mismatch',
        `Cannot apply plan ${plan.id}: it has not claimed all of its rows from run ${retryOf.run}, they might be sent twice`,
        { hint: 'The command that made it did not finish: run the same `volley retry` again.' },
      );
    }
    await assertNotGiven(files, of, received);
  } finally {
    await received.close();
  }
}

async function assertNotReceived(
  files: Files,
  { plan, jobDirectory }: PlanInJob,
  received: ReceivedRows,
): Promise<void> {
  if (!(await received.mayHave(plan.id))) return;
  const directory = join(jobDirectory, plan.id);
  const { rows } = await readRunRows(files, { directory, plan });
  let sent = 0;
  for await (const { step, index } of readRowsOfOthers(files, { directory, plan })) {
    const isOpen = rows.currentStatusOf(step, index) === 'open';
    if (isOpen && (await received.has({ run: plan.id, step, index }, { isRefused: false }))) sent += 1;
  }
  if (sent === 0) return;
  throw new UserError(
    'plan-mismatch',
    `Cannot resume run ${plan.id}: delivery receipts show that ${sent} of the rows it has yet to send were sent, they would be sent twice`,
    { hint: `\`volley retry ${directory} --only unprocessed\` makes a plan of what is left without them.` },
  );
}

async function assertNotGiven(
  files: Files,
  { plan, jobDirectory, history }: PlanInJob,
  received: ReceivedRows,
): Promise<void> {
  const all = history.map((run) => ({ ...run, isBegun: run.state !== 'planned' }));
  // Of plans that retry the same rows, their run's journal tells which has them.
  const counting = countingFor(all, plan).filter(({ isBegun }) => isBegun || plan.retryOf === undefined);
  const directory = join(jobDirectory, plan.id);
  const given = new GivenRows(files, { counting, all: [...all, { directory, plan, isBegun: false }] });
  const held = new HeldRows({ files, received }, { ...plan, plans: all });
  const problems = new Map<string, { where: string; rows: number }>();
  for await (const row of readRowsOfOthers(files, { directory, plan })) {
    const found = await findProblem(row, { plan, given, held });
    if (found === undefined) continue;
    const { where, rows } = problems.get(found) ?? { where: row.where, rows: 0 };
    problems.set(found, { where, rows: rows + 1 });
  }
  if (problems.size === 0) return;
  const command = plan.retryOf === undefined ? 'volley plan` or `volley run' : 'volley retry';
  throw new UserError('plan-mismatch', `Cannot apply plan ${plan.id}: rows of it would be sent twice`, {
    hint: `Run the \`${command}\` that made it again: it omits them.`,
    problems: [...problems].map(([message, { where, rows }]) => {
      return { where, message: rows === 1 ? message : `${message}; the same holds for ${rows - 1} more` };
    }),
  });
}

async function findProblem(
  row: RowOfOther,
  { plan, given, held }: { plan: Plan; given: GivenRows; held: HeldRows },
): Promise<string | undefined> {
  const id = readRowId(row.id);
  if (id !== undefined) await given.load(id);
  const by = given.planOf(row.kind, row.id);
  if (by !== undefined) return `plan ${by} has claimed the row`;
  const twin = await given.findTwin(plan, row);
  if (twin !== undefined)
    return `the row stands in ${twin} too, and can be sent from there now: remove it from one of them`;
  return held.findFault(row.kind, row.id);
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
