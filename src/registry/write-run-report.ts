import { dirname, join } from 'node:path';
import { sumOf } from '../domain/count-of.js';
import { undefinedOnUserError } from '../domain/errors.js';
import { readRunState } from '../journal/reader.js';
import {
  digestPlanOf,
  JOURNAL_FILE,
  type Plan,
  type PlanAt,
  type RetryOf,
  readPlan,
} from '../plan/format/plan-file.js';
import { RunDirectories } from '../plan/format/run-directories.js';
import type { SentTest } from '../report/page/other-runs.js';
import { balanceOfRun } from '../report/run-rows.js';
import type { Summary } from '../report/summary.js';
import { type ReportOptions, writeReport } from '../report/write-report.js';
import type { Files } from '../storage/files.js';
import type { Claims } from './claims.js';
import { readRegistry } from './open-registry.js';
import type { BegunRun, RegistryState } from './registry-state.js';

/** Writes the outputs of a run (report/write-report.ts), with what the memory alone knows: tests of its plan, and what plans of `volley retry` have of the rows that it held. */
export async function writeRunReport(
  files: Files,
  directory: string,
  plan: Plan,
  options: Pick<ReportOptions, 'onRows'> = {},
): Promise<Summary> {
  // Where the memory is damaged, there is a report without it.
  const known = await readKnown(files, { directory, plan }).catch(undefinedOnUserError);
  return writeReport(files, directory, plan, { ...known, ...options });
}

async function readKnown(files: Files, { directory, plan }: PlanAt): Promise<ReportOptions> {
  const state = await readRegistry(files, dirname(directory));
  const tests = await listTestsOf(files, { directory, plan }, state);
  return { tests, retriedHeld: countRetriedHeld(plan.id, state.claims) };
}

function countRetriedHeld(run: string, claims: Claims): Summary['retriedHeld'] {
  const retried = [...claims.plans].flatMap((plan) => {
    const retryOf = claims.claimsOf(plan)[0]?.retryOf;
    return retryOf?.run === run ? [{ only: retryOf.only, rows: claims.countOf(plan) }] : [];
  });
  const countOf = (only: RetryOf['only']) => sumOf(retried.map((each) => (each.only === only ? each.rows : 0)));
  const [had, noZone] = [countOf('had-it-already'), countOf('no-time-zone')];
  return had + noZone === 0 ? undefined : { had, noZone };
}

/** Tests of this very plan.json, in the order in which they began: one that was made again under other settings is another plan. */
export async function listTestsOf(
  files: Files,
  { directory, plan }: PlanAt,
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

/** Counts the messages of a test, by its journal where the memory knows rows that were not accepted: receipts may have settled them since. */
async function countTest(files: Files, directory: string, { ended }: BegunRun): Promise<SentTest['counts']> {
  if (ended?.state !== 'finished') return undefined;
  const { read = 0, accepted = 0 } = ended.counts;
  // Gone, pruned or damaged, it has only those figures.
  const plan = accepted === read ? undefined : await readPlan(files, directory).catch(undefinedOnUserError);
  if (plan === undefined) return { read, accepted };
  const { state } = await readRunState(files, join(directory, JOURNAL_FILE));
  return balanceOfRun(plan, state, false);
}
