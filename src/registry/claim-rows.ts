import { remember } from '../domain/is-object.js';
import type { RetryEntry, RowRange } from '../journal/entry-format.js';
import { addRow } from '../journal/row-status/row-status-view.js';
import type { Plan, PlanAt } from '../plan/format/plan-file.js';
import { fileIdsOf, type IsAsked, readNamedRows, readRowsOfOthers } from '../plan/reimport/named-rows.js';
import { type RunRows, readRunRows } from '../report/run-rows.js';
import type { Files } from '../storage/files.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';
import { appendToRun } from './append-to-run.js';
import { type Claims, type PlanClaims, RowsToClaim } from './claims.js';
import type { PastRun } from './read-runs.js';

/** Who claimed rows that came back as input. */
const REIMPORTED = 're-import';

/**
 * What a plan has of the rows of others, and has not claimed yet. `by`: who had them claimed. `isBegun`: what others claimed since is theirs;
 * else a claim of its own that does not stand last, as its process died before the memory knew it, is made once more.
 */
export async function describeClaims(
  files: Files,
  run: PlanAt,
  { claims, at, isBegun, by = REIMPORTED }: { claims: Claims; at: number; isBegun: boolean; by?: string | undefined },
): Promise<PlanClaims[]> {
  const { plan } = run;
  const rows = new RowsToClaim();
  for await (const { step, id } of readRowsOfOthers(files, run)) {
    const { isOwn } = claims.findNext(step.kind, id, plan, false);
    const hasIt = isBegun ? isOwn : claims.listOwners(step.kind, id, plan).at(-1) === plan.id;
    if (!hasIt) rows.add(step.kind, id);
  }
  return rows.describe(plan, { at, by });
}

/** What plans have claimed and nothing else knows, by their rows: those of retries, and those that were begun. `history`: in the order in which they began. */
export async function describePastClaims(
  files: Files,
  { known, history, at }: { known: Claims; history: readonly PastRun[]; at: number },
): Promise<PlanClaims[]> {
  const entries: PlanClaims[] = [];
  for (const run of history) {
    if (run.state === 'planned' && run.plan.retryOf === undefined) continue;
    entries.push(...(await describeClaims(files, run, { claims: known, at, isBegun: true })));
  }
  return entries;
}

/** The files of which a plan has rows: its own, and those of rows that it has claimed. */
export function listFilesOf(plan: Plan, claims: Claims): string[] {
  const came = claims.claimsOf(plan.id).flatMap(({ rows }) => rows.map(({ from }) => from));
  return [...plan.steps.flatMap((step) => fileIdsOf(plan, step)), ...came];
}

/** Lists the rows of a run, of those that are asked for, that other plans have claimed. `isRejected`: whether a row may have come back, too. */
export async function* listClaimed(
  files: Files,
  run: PlanAt,
  claims: Claims,
  isAsked: IsAsked,
  isRejected: (step: number, index: number) => boolean = () => false,
): AsyncGenerator<{ step: number; index: number; claim: PlanClaims }> {
  const { id, steps } = run.plan;
  const claimable = listFilesOf(run.plan, claims);
  // Most runs have none: then their rows are not read.
  if (!steps.some(({ kind }) => claimable.some((file) => claims.hasAny(kind, file, id)))) return;
  for (const step of steps) {
    if (step.counts.read === 0) continue;
    for await (const { index, id: row } of readNamedRows(files, run, step, isAsked)) {
      const claim = row && claims.findNext(step.kind, row, run.plan, isRejected(step.number, index)).next;
      if (claim !== undefined) yield { step: step.number, index, claim };
    }
  }
}

/**
 * Notes in the journal of a run which of its rows other plans have claimed, as the memory knows it: the run's outputs are made from
 * its journal. To be called behind the lock; a second time there is nothing to note. Gives the run as it stands then.
 */
export async function noteClaims(run: RunRows, claims: Claims, lock: Lock, deps: Ports): Promise<RunRows> {
  const { directory, plan, rows } = run;
  const ranges = new Map<string, { entry: Omit<RetryEntry, 'rows'>; rows: RowRange[] }>();
  const isUnsent: IsAsked = (row, index, { number }) =>
    row.state === 'planned' && ['rejected', 'not-sent'].includes(rows.currentStatusOf(number, index));
  const isRejected = (step: number, index: number) => rows.currentStatusOf(step, index) === 'rejected';
  for await (const { step, index, claim } of listClaimed(deps.files, run, claims, isUnsent, isRejected)) {
    const { plan: by, by: who } = claim;
    const status = isRejected(step, index) ? 'rejected' : 'not-sent';
    const entry = { type: 'retry', at: deps.clock.now(), by: who, plan: by, status } as const;
    addRow(remember(ranges, `${by} ${status}`, () => ({ entry, rows: [] })).rows, step, index);
  }
  if (ranges.size === 0) return run;
  const entries = [...ranges.values()].map((noted): RetryEntry => ({ ...noted.entry, rows: noted.rows }));
  await appendToRun(run, { entries, lock }, deps);
  return readRunRows(deps.files, { directory, plan });
}
