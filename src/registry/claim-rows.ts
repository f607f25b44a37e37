import { remember } from '../domain/is-object.js';
import type { RetryEntry, RowRange } from '../journal/entry-format.js';
import { addRow } from '../journal/row-status/row-ranges.js';
import type { Plan, PlannedStep } from '../plan/format/plan-file.js';
import { fileIdsOf, type NamedRow, type PlanAt, readNamedRows, readRowsOfOthers } from '../plan/reimport/named-rows.js';
import { type RunRows, readRunRows } from '../report/read-run-rows.js';
import type { Files } from '../storage/files.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';
import { appendToRun } from './append-to-run.js';
import { type Claims, type PlanClaims, RowsToClaim } from './claims.js';
import type { PastRun } from './read-runs.js';

/** Of rows that came back as input. */
const REIMPORTED = 're-import';

/** What a plan has of the rows of others, and has not claimed yet. `by`: who had them claimed. */
export async function describeClaims(
  files: Files,
  run: PlanAt,
  { claims, at, by = REIMPORTED }: { claims: Claims; at: number; by?: string | undefined },
): Promise<PlanClaims[]> {
  const { plan } = run;
  const rows = new RowsToClaim();
  for await (const { step, id } of readRowsOfOthers(files, run)) {
    if (!claims.findNext(step.kind, id, plan).isOwn) rows.add(step.kind, id);
  }
  return rows.describe(plan, { at, by });
}

/** What plans have claimed and nothing else knows, by their rows: those of retries, and those that were begun. */
export async function describePastClaims(
  files: Files,
  { known, history, at }: { known: Claims; history: readonly PastRun[]; at: number },
): Promise<PlanClaims[]> {
  const entries: PlanClaims[] = [];
  for (const run of history) {
    if (run.state === 'planned' && run.plan.retryOf === undefined) continue;
    entries.push(...(await describeClaims(files, run, { claims: known, at })));
  }
  return entries;
}

/** The files of which a plan has rows: its own, and those of rows that it has claimed. */
export function listFilesOf(plan: Plan, claims: Claims): string[] {
  const came = claims.claimsOf(plan.id).flatMap(({ rows }) => rows.map(({ from }) => from));
  return [...plan.steps.flatMap((step) => fileIdsOf(plan, step)), ...came];
}

/** The planned rows of a run, or those that it left out. */
async function* readRowsAs(
  state: 'planned' | 'left-out',
  files: Files,
  run: PlanAt,
): AsyncGenerator<NamedRow & { step: PlannedStep }> {
  for (const step of run.plan.steps) {
    if (step.counts.read === 0) continue;
    for await (const named of readNamedRows(files, run, step))
      if (named.index !== -1 && (named.row.state === 'planned') === (state === 'planned')) yield { ...named, step };
  }
}

/** The rows of a run that other plans have claimed from it. */
export async function* listClaimed(
  files: Files,
  run: PlanAt,
  claims: Claims,
  state: 'planned' | 'left-out' = 'planned',
): AsyncGenerator<{ step: number; index: number; claim: PlanClaims }> {
  const { id, steps } = run.plan;
  const claimable = listFilesOf(run.plan, claims);
  // Most runs have none: then their rows are not read.
  if (!steps.some(({ kind }) => claimable.some((file) => claims.hasAny(kind, file, id)))) return;
  for await (const { step, index, id: row } of readRowsAs(state, files, run)) {
    const claim = row && claims.findNext(step.kind, row, run.plan).next;
    if (claim !== undefined) yield { step: step.number, index, claim };
  }
}

/**
 * Notes in the journal of a run which of its rows other plans have claimed, as the memory knows it: the run's outputs are made from
 * its journal. To be called behind the lock; a second time there is nothing to note. Gives the run as it stands then.
 */
export async function noteClaims(run: RunRows, claims: Claims, lock: Lock, deps: Ports): Promise<RunRows> {
  const { directory, plan, rows } = run;
  const ranges = new Map<string, { entry: Omit<RetryEntry, 'rows'>; rows: RowRange[] }>();
  for await (const { step, index, claim } of listClaimed(deps.files, run, claims)) {
    const { plan: by, by: who } = claim;
    const status = rows.currentStatusOf(step, index);
    if (status !== 'rejected' && status !== 'not-sent') continue;
    const entry = { type: 'retry', at: deps.clock.now(), by: who, plan: by, status } as const;
    addRow(remember(ranges, `${by} ${status}`, () => ({ entry, rows: [] })).rows, step, index);
  }
  if (ranges.size === 0) return run;
  const entries = [...ranges.values()].map((noted): RetryEntry => ({ ...noted.entry, rows: noted.rows }));
  await appendToRun(run, { entries, lock }, deps);
  return readRunRows(deps.files, { directory, plan });
}
