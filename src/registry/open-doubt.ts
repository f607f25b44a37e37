import { basename, join } from 'node:path';
import { InternalError, UserError } from '../domain/errors.js';
import { readRunState } from '../journal/state-reader.js';
import { JOURNAL_FILE, PLAN_FILE, type Plan, readPlan } from '../plan/format/plan-file.js';
import { readRunName } from '../plan/format/run-directories.js';
import { countUnderWay } from '../report/row-balance.js';
import type { OpenDoubt, RunInDoubt, Summary } from '../report/summary.js';
import { SUMMARY_FILE } from '../report/write-report.js';
import type { Files } from '../storage/files.js';

export interface Scope {
  /** Of the job. */
  readonly isSandbox: boolean;
  /** A runner has the job: what is under way is not in doubt yet. */
  readonly isRunning?: boolean;
}

/**
 * Which runs of a job hold rows in doubt, and how many. Writes nothing, and needs no lock. Costs one small file a run: the
 * summary of a finished run holds the figure, and is withdrawn before rows are settled. Only of a run without a summary is
 * the journal read. Rows that were handed over to a database do not count: the same command finds out what came of them, and no
 * person can settle them before. Runs on the sandbox count for jobs on the sandbox alone: no person got their messages. Tests do not count.
 */
export async function readOpenDoubt(
  files: Files,
  jobDirectory: string,
  { isSandbox, isRunning = false }: Scope,
): Promise<OpenDoubt> {
  const runs: RunInDoubt[] = [];
  for (const name of await files.list(jobDirectory)) {
    if (name.startsWith('.')) continue;
    const directory = join(jobDirectory, name);
    const inDoubt = await countInDoubt(files, directory, { isSandbox, isRunning }).catch((error: unknown) => {
      // A failing disk is an error; a run that cannot be read is no reason to hide the others.
      if (error instanceof UserError || error instanceof InternalError) return null;
      throw error;
    });
    if (inDoubt !== 0) runs.push({ run: readRunName(name), directory, inDoubt });
  }
  return { rows: runs.reduce((sum, { inDoubt }) => sum + (inDoubt ?? 0), 0), runs };
}

async function countInDoubt(
  files: Files,
  directory: string,
  { isSandbox, isRunning }: Required<Scope>,
): Promise<number> {
  if (!(await isRun(files, directory))) return 0;
  const figure = await readFigure(files, directory);
  if (figure === 0) return 0;
  const plan = await readPlan(files, directory);
  if (plan.job.service.sandbox !== isSandbox || plan.testOf !== undefined) return 0;
  return figure ?? countInJournal(files, join(directory, JOURNAL_FILE), { plan, isRunning });
}

/** Of a finished run whose outputs are up to date; undefined for any other. */
async function readFigure(files: Files, directory: string): Promise<number | undefined> {
  const text = await files.readText(join(directory, SUMMARY_FILE));
  if (text === undefined) return undefined;
  try {
    const { state, plan, balance }: Summary = JSON.parse(text);
    const isOwn =
      state === 'finished' && plan === readRunName(basename(directory)) && Number.isSafeInteger(balance.inDoubt);
    return isOwn ? balance.inDoubt : undefined;
  } catch {
    return undefined;
  }
}

/** A plan that was begun. */
async function isRun(files: Files, directory: string): Promise<boolean> {
  for (const name of [PLAN_FILE, JOURNAL_FILE]) {
    if ((await files.stat(join(directory, name))) === undefined) return false;
  }
  return true;
}

async function countInJournal(
  files: Files,
  path: string,
  { plan, isRunning }: { plan: Plan; isRunning: boolean },
): Promise<number> {
  const { state } = await readRunState(files, path);
  const { rows, withWorkers } = countUnderWay(state, plan);
  let count = isRunning ? 0 : rows - withWorkers;
  for (const { settledRows } of state.steps.values()) count += settledRows['in-doubt'];
  return count;
}
