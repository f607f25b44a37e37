import { dirname, join } from 'node:path';
import { countOf, sumOf } from '../domain/count-of.js';
import { remember } from '../domain/is-object.js';
import type { RunStatus } from '../journal/replay.js';
import { JOURNAL_FILE, PLAN_FILE, type Plan, RECEIPTS_FILE } from '../plan/format/plan-file.js';
import { fileIdsOf } from '../plan/reimport/named-rows.js';
import { listFilesOf } from '../registry/claims.js';
import { isReported, readHistory, readOpenDoubt } from '../registry/read-runs.js';
import type { Registry } from '../registry/registry.js';
import { readWaiting } from '../registry/waiting-messages.js';
import { LISTED_OUTPUTS } from '../report/outputs.js';
import { CAMPAIGN_PAGE, PAGE_FILE, readSummary, SUMMARY_FILE } from '../report/write-report.js';
import type { Files } from '../storage/files.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';

interface PrunedRun {
  readonly run: string;
  readonly directory: string;
  /** Null for one that never came to its end, or was never begun. */
  readonly endedAt: string | null;
  readonly bytes: number;
}

export interface PruneEnd extends Omit<ChosenRuns, 'chosen'> {
  readonly pruned: readonly PrunedRun[];
  /** What the embedded sandbox kept of the job and loses with it; 0 while a run is left. */
  readonly sandboxBytes: number;
}

/**
 * Prunes the runs of a job that are chosen, behind its lock; those first whose pruning a process began and did not finish. What the
 * embedded sandbox accepted of the job goes with the last run.
 */
export async function pruneRuns(
  { sandboxLedger, registry, lock }: { sandboxLedger: string; registry: Registry; lock: Lock },
  { by, isDryRun, ...choice }: PruneChoice & { by: string; isDryRun: boolean },
  deps: Ports,
): Promise<PruneEnd> {
  const { files } = deps;
  const pruned: PrunedRun[] = [];
  const prune = async (run: string) => {
    const endedAt = registry.find(run)?.ended?.endedAt ?? null;
    const directory = registry.directories.of(run);
    const bytes = sumOf((await listPrunable(files, directory)).map((file) => file.bytes));
    if (!isDryRun) await pruneRun(run, { registry, lock }, deps);
    pruned.push({ run, directory, endedAt, bytes });
  };
  const begun = new Set([...registry.state.records].flatMap(({ plan, pruned }) => (pruned === undefined ? [] : plan)));
  for (const run of begun) {
    if ((await listPrunable(files, registry.directories.of(run))).length > 0) await prune(run);
  }
  const runs = (await readRuns(registry, deps)).filter(({ plan }) => !begun.has(plan.id));
  const { chosen, ...stay } = chooseRuns(runs, choice);
  const ids = [...chosen].map(({ plan }) => plan.id);
  if (!isDryRun) await notePruned(ids, { registry, by }, deps);
  for (const run of ids) await prune(run);
  const isLast = stay.kept === 0 && stay.skipped.length === 0;
  return { ...stay, pruned, sandboxBytes: isLast ? await pruneSandbox(files, sandboxLedger, isDryRun) : 0 };
}

/** The one file that an embedded sandbox keeps: a job may be named as its directory is. */
async function pruneSandbox(files: Files, ledger: string, isDryRun: boolean): Promise<number> {
  const bytes = (await files.stat(ledger))?.bytes ?? 0;
  if (bytes === 0 || isDryRun) return bytes;
  await files.remove(ledger);
  await files.syncDirectory(dirname(ledger));
  return bytes;
}

async function readRuns(registry: Registry, { files, clock }: Ports): Promise<PrunableRun[]> {
  const { jobDirectory } = registry.directories;
  const inDoubt = new Map((await readOpenDoubt(files, jobDirectory)).runs.map((each) => [each.run, each.inDoubt]));
  const begunAt = registry.state.listBegunAt();
  const runs: PrunableRun[] = [];
  for (const { plan, state, directory } of await readHistory(files, jobDirectory, registry.state)) {
    const { begun, ended, abandoned } = registry.state.recordOf(plan.id);
    const isWritten = ended?.state === 'finished' && (await isReported(files, { directory }));
    // An abandoned run never sends the rest: it goes with its rows.
    const unfinished = abandoned === undefined ? explainUnfinished(state, begun !== undefined, isWritten) : undefined;
    // Nobody waits for the end of a test that was cut short, or never begun.
    const cutMs = begun?.at ?? (await files.stat(join(directory, PLAN_FILE)))?.modifiedMs;
    const endMs = abandoned?.at ?? (Date.parse(ended?.endedAt ?? '') || (plan.testOf && cutMs));
    const need = unfinished ?? explainDoubt(inDoubt.get(plan.id));
    runs.push({
      plan,
      files: listFilesOf(plan, registry.state.claims),
      beganMs: begunAt.get(plan.id),
      endMs: endMs ?? Number.POSITIVE_INFINITY,
      // Its batches stand in its journal alone: without it no one could take them back.
      need:
        plan.testOf === undefined
          ? (need ?? (await readWaiting(files, { directory, plan }, clock.now()))?.said)
          : undefined,
    });
  }
  return runs;
}

/** A run of a job that is not pruned yet. */
interface PrunableRun {
  readonly plan: Plan;
  /** Ids of the files of which it has rows. */
  readonly files: readonly string[];
  /** When it was begun; undefined for an unstarted plan. */
  readonly beganMs: number | undefined;
  readonly endMs: number;
  /** Why its own rows are still needed; undefined where they are not. */
  readonly need: string | undefined;
}

interface PruneChoice {
  /** Only runs that ended before this are pruned. */
  readonly beforeMs: number;
  /** So many of the newest stay whatever their age. */
  readonly keepLast: number;
}

/** What is pruned, in this order, and what is old enough and stays. `kept`: how many are too young, or among the last; a test is never a last one. */
interface ChosenRuns {
  readonly chosen: ReadonlySet<PrunableRun>;
  readonly skipped: readonly { readonly run: string; readonly reason: string }[];
  readonly kept: number;
}

/**
 * A run is pruned once no other needs its rows: not itself, and no plan that has rows from it. So a plan goes before the runs that it
 * has rows from, or with them: its receipts lead back to theirs. Pure.
 */
function chooseRuns(runs: readonly PrunableRun[], { beforeMs, keepLast }: PruneChoice): ChosenRuns {
  const newest = runs
    .filter(({ beganMs, plan }) => beganMs !== undefined && plan.testOf === undefined)
    .sort((one, other) => (other.beganMs ?? 0) - (one.beganMs ?? 0));
  const last = new Set(newest.slice(0, keepLast));
  const skipped: { run: string; reason: string }[] = [];
  let waiting: PrunableRun[] = [];
  let kept = 0;
  for (const run of runs) {
    if (last.has(run) || (run.need === undefined && run.endMs >= beforeMs)) kept += 1;
    else if (run.need !== undefined) skipped.push({ run: run.plan.id, reason: run.need });
    else waiting.push(run);
  }
  const listClaimants = createClaimantLookup(runs);
  const chosen = new Set<PrunableRun>();
  for (let before = -1; before < chosen.size; ) {
    before = chosen.size;
    const free = waiting.filter((run) => listClaimants(run).every((each) => chosen.has(each)));
    for (const run of free) chosen.add(run);
    waiting = waiting.filter((run) => !chosen.has(run));
  }
  for (const run of waiting) {
    const claimant = listClaimants(run).find((each) => !chosen.has(each));
    skipped.push({ run: run.plan.id, reason: `plan ${claimant?.plan.id} has rows of it, and is not pruned` });
  }
  return { chosen, skipped, kept };
}

function explainUnfinished(state: RunStatus, isBegun: boolean, isWritten: boolean): string | undefined {
  if (state === 'planned') return isBegun ? 'its journal is gone' : 'it was never applied';
  if (state !== 'finished') return 'it has not come to its end';
  return isWritten ? undefined : 'its outputs are not written: run the job once more';
}

/** `inDoubt`: null where its files cannot be read, so that it may have some. */
function explainDoubt(inDoubt: number | null = 0): string | undefined {
  if (inDoubt === null) return 'its files cannot be read';
  return inDoubt > 0 ? `${countOf(inDoubt, 'row')} in doubt: see volley settle` : undefined;
}

/**
 * Gives the plans that have rows of a run, by retry, or by re-import of rows of its files; they are looked up, as a job may have thousands of
 * runs. As long as they are needed themselves, also those that may have rows of it from its rejections, which it had from another: to send
 * them they must show that it did not.
 */
function createClaimantLookup(runs: readonly PrunableRun[]): (of: PrunableRun) => PrunableRun[] {
  const retries = new Map<string, PrunableRun[]>();
  const byFile = new Map<string, PrunableRun[]>();
  for (const run of runs) {
    const { retryOf, steps } = run.plan;
    if (retryOf !== undefined) remember(retries, retryOf.run, (): PrunableRun[] => []).push(run);
    const files = steps.flatMap(({ inputs }) => inputs.flatMap(({ fedFrom = [] }) => fedFrom));
    for (const file of new Set(files)) remember(byFile, file, (): PrunableRun[] => []).push(run);
  }
  return ({ plan: of, files }) => {
    const own = new Set(of.retryOf === undefined ? of.steps.flatMap((step) => fileIdsOf(of, step)) : []);
    const reimports = [...new Set(files)].flatMap((file) => {
      const found = byFile.get(file) ?? [];
      return found.filter(({ plan, need }) => plan.id !== of.id && (need !== undefined || own.has(file)));
    });
    return [...(retries.get(of.id) ?? []), ...reimports];
  };
}

/** Files of a run that Volley wrote and that hold people's rows or texts; others in its directory are not ours to delete. */
const OF_A_STEP = ['requests', 'rows', ...LISTED_OUTPUTS].join('|');
const ROWS = new RegExp(
  `^(?:\\d+-[a-z.]+\\.(?:${OF_A_STEP})\\.(?:ndjson|csv|xlsx)(?:\\.gz)?|deliveries\\.(?:csv|ndjson|xlsx)|stdin|.*\\.part|\\.plan\\.json\\.taken)$`,
);
const NAMES = [PLAN_FILE, JOURNAL_FILE, RECEIPTS_FILE, PAGE_FILE, 'proof.salt', CAMPAIGN_PAGE];

/** What pruning deletes of a directory, plan.json first: without it the rest is no plan. */
async function listPrunable(files: Files, directory: string): Promise<{ name: string; bytes: number }[]> {
  const found: { name: string; bytes: number }[] = [];
  for (const name of await files.list(directory)) {
    if (!NAMES.includes(name) && !ROWS.test(name)) continue;
    const facts = await files.stat(join(directory, name));
    if (facts?.isFile === true) found.push({ name, bytes: facts.bytes });
  }
  return found.sort((one, other) => Number(other.name === PLAN_FILE) - Number(one.name === PLAN_FILE));
}

/**
 * Rows are deleted in this order, each durable before the next, so that a process may die at any moment:
 *
 *   1. the memory has all the runs as pruned, in one write, as it grows with them: nobody sends, settles or retries rows of them from now on
 *   2. so have their own directories, for a memory that is lost: they are runs no more
 *   3. of each the summary loses its examples, and one file after the other goes
 *
 * The next `prune` continues one that was cut short. What the runs took and claimed stays known.
 */
async function notePruned(
  runs: readonly string[],
  { registry, by }: { registry: Registry; by: string },
  { files, clock }: Ports,
): Promise<void> {
  if (runs.length === 0) return;
  for (const run of runs) await noteFigures(files, run, registry);
  const pruned = { at: clock.now(), by };
  await registry.write({ records: runs.map((run) => ({ ...registry.state.recordOf(run), pruned })) });
}

async function pruneRun(
  run: string,
  { registry, lock }: { registry: Registry; lock: Lock },
  { files }: Ports,
): Promise<void> {
  const directory = registry.directories.of(run);
  await lock.assertHeld();
  await registry.keep(run);
  await removeExamples(files, directory);
  for (const { name } of await listPrunable(files, directory)) {
    await lock.assertHeld();
    await files.remove(join(directory, name));
    if (name === PLAN_FILE) await files.syncDirectory(directory);
  }
  await files.syncDirectory(directory);
}

/** Notes the figures of a run as its outputs have them: receipts may have settled rows since the memory noted them. */
async function noteFigures(files: Files, run: string, registry: Registry): Promise<void> {
  const summary = await readSummary(files, registry.directories.of(run));
  const ended = registry.find(run)?.ended;
  if (summary?.plan !== run || JSON.stringify(summary.balance) === JSON.stringify(ended?.counts)) return;
  await registry.noteEnded(summary);
}

/** Removes cells of people from the summary; its output files are gone. */
async function removeExamples(files: Files, directory: string): Promise<void> {
  const path = join(directory, SUMMARY_FILE);
  const summary = await readSummary(files, directory);
  if (summary === undefined) return files.remove(path);
  const steps = summary.steps.map((step) => ({ ...step, reasons: [], files: {} }));
  const bare = `${JSON.stringify({ ...summary, steps }, undefined, 2)}\n`;
  if (bare !== (await files.readText(path))) await files.writeWhole(path, bare);
}
