import { join } from 'node:path';
import { isReported, readHistory } from '../registry/history.js';
import { readOpenDoubt } from '../registry/open-doubt.js';
import type { Registry } from '../registry/registry.js';
import type { Lock } from '../storage/lock.js';
import { type ChosenRuns, chooseRuns, type PrunableRun, type PruneChoice } from './choose-runs.js';
import { listPrunable, type PruneDeps, pruneRun } from './prune-run.js';

export interface PrunedRun {
  readonly run: string;
  readonly directory: string;
  /** Null for one whose pruning a process began, and did not finish. */
  readonly endedAt: string | null;
  /** That were deleted, or would be. */
  readonly bytes: number;
}

export interface PruneEnd extends Omit<ChosenRuns, 'chosen'> {
  readonly pruned: readonly PrunedRun[];
}

/** Prunes the runs of a job that are chosen, behind its lock; those first whose pruning a process began and did not finish. */
export async function pruneRuns(
  { jobDirectory, registry, lock }: { jobDirectory: string; registry: Registry; lock: Lock },
  { by, isDryRun, ...choice }: PruneChoice & { by: string; isDryRun: boolean },
  deps: PruneDeps,
): Promise<PruneEnd> {
  const { files } = deps;
  const pruned: PrunedRun[] = [];
  const prune = async (run: string, endedAt: string | null) => {
    const directory = join(jobDirectory, run);
    const bytes = (await listPrunable(files, directory)).reduce((sum, file) => sum + file.bytes, 0);
    if (!isDryRun) await pruneRun({ run, directory, registry, lock, by }, deps);
    pruned.push({ run, directory, endedAt, bytes });
  };
  const begun = [...registry.state.runs.values()]
    .filter((run) => run.pruned !== undefined)
    .map((run) => run.begun.plan);
  for (const run of begun) {
    if ((await listPrunable(files, join(jobDirectory, run))).length > 0) await prune(run, null);
  }
  const runs = (await readRuns(jobDirectory, registry, deps)).filter(({ past }) => !begun.includes(past.plan.id));
  const { chosen, ...stay } = chooseRuns(runs, choice);
  for (const { past, known } of chosen) await prune(past.plan.id, known?.ended?.endedAt ?? null);
  return { ...stay, pruned };
}

async function readRuns(jobDirectory: string, registry: Registry, { files }: PruneDeps): Promise<PrunableRun[]> {
  const doubt = new Map<string, number | null>();
  for (const isSandbox of [false, true]) {
    const open = await readOpenDoubt(files, jobDirectory, { isSandbox });
    for (const { run, inDoubt } of open.runs) doubt.set(run, inDoubt);
  }
  const runs: PrunableRun[] = [];
  for (const past of await readHistory(files, jobDirectory)) {
    const { id } = past.plan;
    const known = registry.find(id);
    runs.push({
      past,
      known,
      isReported: await isReported(files, past),
      inDoubt: doubt.get(id) ?? (doubt.has(id) ? null : 0),
    });
  }
  return runs;
}
