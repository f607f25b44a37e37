import { countOf } from '../domain/count-of.js';
import type { PastRun } from '../registry/read-runs.js';
import type { BegunRun } from '../registry/registry-state.js';

/** A run of a job that is not pruned yet. */
export interface PrunableRun {
  readonly past: PastRun;
  /** Undefined where it was never begun. */
  readonly known: BegunRun | undefined;
  readonly isReported: boolean;
  readonly plannedMs?: number | undefined;
  /** When a person let it go; undefined where none did. */
  readonly abandonedMs?: number | undefined;
  /** Null: its files cannot be read, so that it may have some. */
  readonly inDoubt: number | null;
}

export interface PruneChoice {
  /** Runs that ended before. */
  readonly beforeMs: number;
  /** So many of the newest stay whatever their age. */
  readonly keepLast: number;
}

/** What is pruned, in this order, and what is old enough and stays. `kept`: how many are too young, or among the last, of which tests are none. */
export interface ChosenRuns {
  readonly chosen: readonly PrunableRun[];
  readonly skipped: readonly { readonly run: string; readonly reason: string }[];
  readonly kept: number;
}

/**
 * A run is pruned once no other needs its rows: not itself, and no plan that has rows from it. So a plan goes before the runs that it
 * has rows from, or with them: its receipts lead back to theirs. Pure.
 */
export function chooseRuns(runs: readonly PrunableRun[], { beforeMs, keepLast }: PruneChoice): ChosenRuns {
  const newest = runs
    .filter(({ past, known }) => known !== undefined && past.plan.testOf === undefined)
    .sort((one, other) => beganAt(other) - beganAt(one));
  const last = new Set(newest.slice(0, keepLast));
  const skipped: { run: string; reason: string }[] = [];
  let waiting: PrunableRun[] = [];
  let kept = 0;
  for (const run of runs) {
    const reason = explainNeed(run);
    if (last.has(run) || (reason === undefined && endOf(run) >= beforeMs)) kept += 1;
    else if (reason !== undefined) skipped.push({ run: run.past.plan.id, reason });
    else waiting.push(run);
  }
  const chosen: PrunableRun[] = [];
  for (let isDone = false; !isDone; ) {
    const isFree = ({ past }: PrunableRun) => listClaimants(past.plan.id, runs).every((each) => chosen.includes(each));
    const free = waiting.filter(isFree);
    chosen.push(...free);
    waiting = waiting.filter((run) => !free.includes(run));
    isDone = free.length === 0;
  }
  for (const { past } of waiting) {
    const [claimant] = listClaimants(past.plan.id, runs).filter((each) => !chosen.includes(each));
    skipped.push({ run: past.plan.id, reason: `plan ${claimant?.past.plan.id} has rows of it, and is not pruned` });
  }
  return { chosen, skipped, kept };
}

/** Nobody waits for the end of a test that was cut short, or never begun. */
function endOf({ past, known, plannedMs, abandonedMs }: PrunableRun): number {
  if (abandonedMs !== undefined) return abandonedMs;
  const cutAt = past.plan.testOf === undefined ? undefined : (known?.begun.at ?? plannedMs);
  return Date.parse(known?.ended?.endedAt ?? '') || (cutAt ?? Number.POSITIVE_INFINITY);
}

function beganAt({ known }: PrunableRun): number {
  return Date.parse(known?.ended?.startedAt ?? '') || (known?.begun.at ?? 0);
}

/** Why its own rows are still needed; undefined where they are not. */
function explainNeed({ past, known, isReported, inDoubt, abandonedMs }: PrunableRun): string | undefined {
  if (past.plan.testOf !== undefined) return undefined;
  if (past.state === 'planned' && abandonedMs === undefined) return 'it was never applied';
  // What an abandoned one did not send is let go with its rows.
  const hasEnded = past.state === 'finished' || abandonedMs !== undefined;
  if (!hasEnded) return 'it has not come to its end';
  const isWritten = abandonedMs !== undefined || (isReported && known?.ended?.state === 'finished');
  if (!isWritten) return 'its outputs are not written: run the job once more';
  if (inDoubt === null) return 'its files cannot be read';
  return inDoubt > 0 ? `${countOf(inDoubt, 'row')} in doubt: see volley settle` : undefined;
}

/** Plans that have rows of a run, by retry or re-import. */
function listClaimants(id: string, runs: readonly PrunableRun[]): PrunableRun[] {
  return runs.filter(({ past: { plan } }) => {
    return (
      plan.retryOf?.run === id || plan.steps.some(({ inputs }) => inputs.some(({ fedFrom }) => fedFrom?.includes(id)))
    );
  });
}
