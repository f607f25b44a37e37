import { dirname, join } from 'node:path';
import { UserError } from '../domain/errors.js';
import type { Balance } from '../domain/row.js';
import { readRunState } from '../journal/state-reader.js';
import { digestPlanOf, JOURNAL_FILE, PLAN_FILE, type Plan, readPlan } from '../plan/format/plan-file.js';
import { RunDirectories } from '../plan/format/run-directories.js';
import type { SentTest } from '../report/page/other-runs.js';
import { balanceOfRun } from '../report/row-balance.js';
import type { Summary } from '../report/summary.js';
import { type ReportOptions, writeReport } from '../report/write-report.js';
import type { Files } from '../storage/files.js';
import { readRegistry } from './open-registry.js';
import type { BegunRun, RegistryState } from './registry-state.js';

/** Writes the outputs of a run (report/write-report.ts); its page says which tests of its plan the memory knows. */
export async function writeRunReport(
  files: Files,
  directory: string,
  plan: Plan,
  options: Omit<ReportOptions, 'tests'> = {},
): Promise<Summary> {
  return writeReport(files, directory, plan, { tests: await readTests(files, directory, plan), ...options });
}

/** None where the memory is damaged: a report does not depend on it. */
async function readTests(files: Files, directory: string, plan: Plan): Promise<SentTest[]> {
  try {
    const state = await readRegistry(files, dirname(directory));
    return await listTestsOf(files, { directory, plan }, state);
  } catch (error) {
    if (error instanceof UserError) return [];
    throw error;
  }
}

/** Tests of this very plan.json, in the order in which they began: one that was made again under other settings is another plan. */
export async function listTestsOf(
  files: Files,
  { directory, plan }: { directory: string; plan: Plan },
  registry: RegistryState,
): Promise<SentTest[]> {
  const tests = registry.listTests(plan.id);
  if (tests.length === 0) return [];
  const planSha256 = await digestPlanOf(files, directory);
  const directories = await RunDirectories.read(files, dirname(directory));
  const found: SentTest[] = [];
  for (const test of tests) {
    const { plan: run, begun } = test;
    if (begun.testOf?.planSha256 !== planSha256) continue;
    const { numbers } = begun.testOf;
    found.push({ run, sentAtMs: begun.at, numbers, counts: await countTest(files, directories.of(run), test) });
  }
  return found;
}

/** As its journal has it where the memory knows rows that were not accepted: receipts may have settled them since. */
async function countTest(files: Files, directory: string, { ended }: BegunRun): Promise<SentTest['counts']> {
  if (ended?.state !== 'finished') return undefined;
  const { read = 0, accepted = 0 } = ended.counts;
  return accepted === read ? { read, accepted } : ((await readBalance(files, directory)) ?? { read, accepted });
}

/** Undefined for a run that is gone, pruned or damaged. */
async function readBalance(files: Files, directory: string): Promise<Balance | undefined> {
  if ((await files.stat(join(directory, PLAN_FILE))) === undefined) return undefined;
  try {
    const plan = await readPlan(files, directory);
    const { state } = await readRunState(files, join(directory, JOURNAL_FILE));
    return balanceOfRun(plan, state, false);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
