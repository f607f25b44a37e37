import { join } from 'node:path';
import type { Balance } from '../domain/row.js';
import { readRunState } from '../journal/reader.js';
import { JOURNAL_FILE, PLAN_FILE, readPlan, type TestOf } from '../plan/format/plan-file.js';
import { readApprovals } from '../registry/approvals.js';
import { assertJournalKept } from '../registry/find-faults.js';
import { readRunDirectories } from '../registry/open-registry.js';
import type { RegistryState } from '../registry/registry-state.js';
import { balanceOfRun } from '../report/run-rows.js';
import type { Summary } from '../report/summary.js';
import { readSummary } from '../report/write-report.js';
import type { Files } from '../storage/files.js';

/** `abandoned`: it never sends again, by `volley abandon`. `pruned`: its rows are deleted, by `volley prune`. `gone`: known to the memory, and its directory is not there. `unreadable`: its files are damaged, `problem` says how. */
type ListedState = Summary['state'] | 'abandoned' | 'gone' | 'pruned' | 'unreadable';

/** A run or an unstarted plan of a job. */
export interface ListedRun {
  readonly run: string;
  readonly directory: string;
  readonly state: ListedState;
  /** Null where it was never begun, or nothing says so. */
  readonly plannedAt: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly exitCode: number | null;
  /** The run whose rows it retries. */
  readonly retryOf: string | null;
  /** The plan that a test tested, null where it tested the job file; absent for a run. */
  readonly testOf?: string | null;
  /** How many approvals of it count, of how many that it asks for; absent where it asks for none. */
  readonly approvals?: { readonly count: number; readonly required: number };
  /** Its input files as the job names them, each once. */
  readonly files: readonly string[];
  /** Rows by outcome; null where nothing says so. */
  readonly balance: Balance | null;
  /** What its directory takes on disk. */
  readonly bytes: number;
  readonly problem: string | null;
}

/**
 * All plans and runs of a job, by its memory and its directory, the newest first. Writes nothing, and needs no lock. `isRunning`: a
 * process works on the job, and what is in flight is not in doubt yet.
 */
export async function listRuns(
  files: Files,
  { jobDirectory, ...about }: { jobDirectory: string; registry: RegistryState; isRunning: boolean },
): Promise<ListedRun[]> {
  const { registry } = about;
  const directories = await readRunDirectories(files, jobDirectory, registry);
  const runs: ListedRun[] = [];
  const gone = new Set(registry.runs.keys());
  for await (const { run, path: directory, hasPlan } of directories.list(files)) {
    if (!hasPlan) continue;
    gone.delete(run);
    runs.push(await describeRun(files, directory, { run, ...about }));
  }
  for (const run of gone) runs.push(await describeRun(files, directories.of(run), { run, ...about }));
  const begunAt = registry.listBegunAt();
  const atOf = ({ run, startedAt, plannedAt }: ListedRun) =>
    begunAt.get(run) ?? (Date.parse(startedAt ?? plannedAt ?? '') || 0);
  return runs.sort((one, other) => atOf(other) - atOf(one));
}

/** Describes a run by what the memory knows, and over that by what its own files say. */
async function describeRun(
  files: Files,
  directory: string,
  { run, registry, isRunning }: { run: string; registry: RegistryState; isRunning: boolean },
): Promise<ListedRun> {
  const { begun, ended, pruned, abandoned } = registry.recordOf(run);
  const known: ListedRun = {
    run,
    directory,
    state: pruned === undefined ? 'gone' : 'pruned',
    plannedAt: null,
    startedAt: ended?.startedAt ?? timeOf(begun?.at),
    endedAt: ended?.endedAt ?? null,
    exitCode: ended?.exitCode ?? null,
    retryOf: begun?.retryOf ?? null,
    ...describeTest(begun?.testOf),
    files: nameFiles(begun?.files ?? []),
    balance: ended === undefined ? null : (ended.counts as Balance),
    bytes: await countBytes(files, directory),
    problem: null,
  };
  const planned = await files.stat(join(directory, PLAN_FILE));
  if (pruned !== undefined || planned === undefined) return known;
  const plannedAt = timeOf(planned.modifiedMs);
  try {
    const found = await readFacts(files, directory, { registry, isRunning });
    return { ...known, plannedAt, ...found, ...(abandoned !== undefined && { state: 'abandoned' }) };
  } catch (error) {
    if (!(error instanceof Error) || 'syscall' in error) throw error;
    return { ...known, plannedAt, state: 'unreadable', problem: error.message };
  }
}

/** The summary of a finished run, else its plan and its journal. */
async function readFacts(
  files: Files,
  directory: string,
  { registry, isRunning }: { registry: RegistryState; isRunning: boolean },
): Promise<Partial<ListedRun>> {
  await assertJournalKept(files, directory);
  const plan = await readPlan(files, directory);
  const { required, count } = await readApprovals(files, { directory, plan }, registry);
  const about = {
    retryOf: plan.retryOf?.run ?? null,
    ...describeTest(plan.testOf),
    ...(required > 0 && { approvals: { count, required } }),
    files: nameFiles(plan.steps.flatMap(({ inputs }) => inputs)),
  };
  const summary = await readSummary(files, directory);
  if (summary?.state === 'finished') {
    const { state, startedAt, endedAt, exitCode, balance } = summary;
    return { ...about, state, startedAt, endedAt, exitCode, balance };
  }
  const { state } = await readRunState(files, join(directory, JOURNAL_FILE));
  const { firstOpen, lastClose } = state;
  return {
    ...about,
    state: state.status,
    startedAt: timeOf(firstOpen?.at),
    endedAt: timeOf(lastClose?.at),
    exitCode: lastClose === undefined ? null : (summary?.exitCode ?? null),
    balance: balanceOfRun(plan, state, isRunning),
  };
}

function timeOf(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}

function describeTest(testOf: TestOf | undefined): Pick<ListedRun, 'testOf'> {
  return testOf === undefined ? {} : { testOf: testOf.plan };
}

function nameFiles(files: readonly { readonly file: string }[]): string[] {
  return [...new Set(files.map(({ file }) => file))];
}

/** Adds up the files directly in a directory; 0 where there is none. */
async function countBytes(files: Files, directory: string): Promise<number> {
  let bytes = 0;
  for (const name of await files.list(directory)) {
    const found = await files.stat(join(directory, name));
    if (found?.isFile === true) bytes += found.bytes;
  }
  return bytes;
}
