import { dirname, join } from 'node:path';
import { PLAN_FILE } from '../plan/format/plan-file.js';
import { isReported, readHistory, readOpenDoubt } from '../registry/read-runs.js';
import type { Registry } from '../registry/registry.js';
import type { Files } from '../storage/files.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';
import { type ChosenRuns, chooseRuns, type PrunableRun, type PruneChoice } from './choose-runs.js';
import { listPrunable, pruneRun } from './prune-run.js';

interface PrunedRun {
  readonly run: string;
  readonly directory: string;
  /** Null for one that never came to its end, or was never begun. */
  readonly endedAt: string | null;
  /** That were deleted, or would be. */
  readonly bytes: number;
}

export interface PruneEnd extends Omit<ChosenRuns, 'chosen'> {
  readonly pruned: readonly PrunedRun[];
  /** Of what the embedded sandbox kept of the job; 0 while a run is left. */
  readonly sandboxBytes: number;
}

/**
 * Prunes the runs of a job that are chosen, behind its lock; those first whose pruning a process began and did not finish. What the
 * embedded sandbox accepted of the job goes with the last run.
 */
export async function pruneRuns(
  {
    jobDirectory,
    sandboxLedger,
    registry,
    lock,
  }: { jobDirectory: string; sandboxLedger: string; registry: Registry; lock: Lock },
  { by, isDryRun, ...choice }: PruneChoice & { by: string; isDryRun: boolean },
  deps: Ports,
): Promise<PruneEnd> {
  const { files } = deps;
  const pruned: PrunedRun[] = [];
  const prune = async (run: string) => {
    const endedAt = registry.find(run)?.ended?.endedAt ?? null;
    const directory = registry.directories.of(run);
    const bytes = (await listPrunable(files, directory)).reduce((sum, file) => sum + file.bytes, 0);
    if (!isDryRun) await pruneRun({ run, directory, registry, lock, by }, deps);
    pruned.push({ run, directory, endedAt, bytes });
  };
  const begun = [...registry.state.records].flatMap(({ plan, pruned }) => (pruned === undefined ? [] : [plan]));
  for (const run of begun) {
    if ((await listPrunable(files, registry.directories.of(run))).length > 0) await prune(run);
  }
  const runs = (await readRuns(jobDirectory, registry, deps)).filter(({ past }) => !begun.includes(past.plan.id));
  const { chosen, ...stay } = chooseRuns(runs, choice);
  for (const { past } of chosen) await prune(past.plan.id);
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

async function readRuns(jobDirectory: string, registry: Registry, { files }: Ports): Promise<PrunableRun[]> {
  const doubt = new Map<string, number | null>();
  for (const isSandbox of [false, true]) {
    const open = await readOpenDoubt(files, jobDirectory, { isSandbox });
    for (const { run, inDoubt } of open.runs) doubt.set(run, inDoubt);
  }
  const runs: PrunableRun[] = [];
  for (const past of await readHistory(files, jobDirectory, registry.state)) {
    const { id } = past.plan;
    const known = registry.find(id);
    runs.push({
      past,
      known,
      isReported: await isReported(files, past),
      plannedMs: (await files.stat(join(past.directory, PLAN_FILE)))?.modifiedMs,
      abandonedMs: registry.state.recordOf(id).abandoned?.at,
      inDoubt: doubt.get(id) ?? (doubt.has(id) ? null : 0),
    });
  }
  return runs;
}
