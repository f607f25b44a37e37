import { join } from 'node:path';
import { remember } from '../domain/is-object.js';
import { isLeftOutCode } from '../domain/row-codes.js';
import type { RetryEntry, RowRange } from '../journal/entry-format.js';
import { readJournal } from '../journal/reader.js';
import { addRow } from '../journal/row-status/row-ranges.js';
import { type RowId, readRowId } from '../kinds/ids.js';
import { accountOfKind } from '../plan/format/account-of.js';
import { JOURNAL_FILE, type Plan, type RetryOf } from '../plan/format/plan-file.js';
import { idStartOf, isRefusedRow, RefusedRows } from '../plan/reimport/refused-rows.js';
import { readRowsOfOthers } from '../plan/reimport/rows-of-others.js';
import { type RunRows, readRunRows } from '../report/read-run-rows.js';
import type { Files } from '../storage/files.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';
import { appendToRun } from './append-to-run.js';
import { type Claim, type Claimant, Claims, type PlanClaims, RowsToClaim } from './claims.js';
import type { PastRun } from './read-runs.js';

/** Of rows that came back as input. */
const REIMPORTED = 're-import';

/** Which rows of a run a retry takes. */
export function rowsOf(only: RetryOf['only'] | undefined): Pick<RowId, 'isPlanned' | 'isLeftOut'> {
  return isLeftOutCode(only) ? { isPlanned: false, isLeftOut: true } : { isPlanned: true };
}

/** What a plan that retries rows of a run takes of them. */
export function describeRetry(
  plan: Claimant,
  { source, ranges, ...about }: { source: Plan; ranges: readonly RowRange[]; at: number; by: string },
): PlanClaims[] {
  const rows = new RowsToClaim();
  for (const [step, row, count] of ranges) {
    const kind = source.steps.find(({ number }) => number === step)?.kind ?? '';
    rows.add(kind, { from: idStartOf({ run: source.id, step, ...rowsOf(plan.retryOf?.only) }), row }, count);
    rows.count += count;
  }
  return rows.describe(plan, about);
}

/** What a plan takes of the rows that came back as its input, and has not claimed yet. `history`: of the job, to know refused rows by their files. */
export async function describeReimport(
  files: Files,
  run: { readonly directory: string; readonly plan: Plan },
  { claims, history, at }: { claims: Claims; history: readonly PastRun[]; at: number },
): Promise<PlanClaims[]> {
  const { plan } = run;
  const { job, occurrence } = plan;
  const rows = new RowsToClaim();
  const refused = new RefusedRows(files, history);
  for await (const { kind, id } of readRowsOfOthers(files, run)) {
    const row = readRowId(id);
    if (row === undefined) continue;
    if (isRefusedRow(row)) await refused.load(row.run);
    const names = refused.namesOf(row);
    if (claims.ownerOf(kind, names, { account: accountOfKind(job, kind), occurrence }) === plan.id) continue;
    for (const name of names) rows.add(kind, name);
    rows.count += 1;
  }
  return rows.describe(plan, { at, by: REIMPORTED });
}

/** What plans had claimed and nothing else knows: by the rows of those that were begun, and by the journals of the runs that gave them up. */
export async function describePastClaims(
  files: Files,
  { known, history, at }: { known: Claims; history: readonly PastRun[]; at: number },
): Promise<PlanClaims[]> {
  const claims = new Claims();
  for (const plan of known.plans) for (const entry of known.claimsOf(plan)) claims.add(entry);
  const entries: PlanClaims[] = [];
  const add = (made: readonly PlanClaims[]) => {
    entries.push(...made);
    for (const entry of made) claims.add(entry);
  };
  const plans = new Map(history.map(({ plan }) => [plan.id, plan]));
  for (const { directory, plan: source } of history) {
    await readJournal(files, join(directory, JOURNAL_FILE), ({ entry }) => {
      if (entry.type !== 'retry') return;
      const { plan: id, by, status, rows: ranges } = entry;
      if (known.countOf(id) > 0) return;
      const only = status === 'rejected' ? status : 'unprocessed';
      const gone = { ...source, id, retryOf: { run: source.id, only, codes: [] } as const };
      add(describeRetry(plans.get(id) ?? gone, { source, ranges, at, by }));
    });
  }
  for (const run of history) {
    if (run.state !== 'planned') add(await describeReimport(files, run, { claims, history, at }));
  }
  return entries;
}

/** What plans have claimed of a run's planned rows, step by step; or of those that `where` left out. */
export function listClaimsOn(
  { plan }: Pick<RunRows, 'plan'>,
  claims: Claims,
  only?: RetryOf['only'],
): { step: number; claim: Claim }[] {
  return plan.steps.flatMap(({ number: step, kind }) => {
    const from = idStartOf({ run: plan.id, step, ...rowsOf(only) });
    return claims.listOf(kind, from).map((claim) => ({ step, claim }));
  });
}

/**
 * Notes in the journal of a run which of its rows other plans have claimed, as the memory knows it: the run's outputs are made from
 * its journal. To be called behind the lock; a second time there is nothing to note. Gives the run as it stands then.
 */
export async function noteClaims(run: RunRows, claims: Claims, lock: Lock, deps: Ports): Promise<RunRows> {
  const { directory, plan, rows } = run;
  const ranges = new Map<string, { entry: Omit<RetryEntry, 'rows'>; rows: RowRange[] }>();
  for (const { step, claim } of listClaimsOn(run, claims)) {
    const { plan: by, by: who } = claim.of;
    for (const [first, count] of claim.ranges()) {
      for (let row = first; row < first + count; row++) {
        const status = rows.currentStatusOf(step, row);
        if (status !== 'rejected' && status !== 'not-sent') continue;
        const key = `${by} ${status}`;
        const entry = { type: 'retry', at: deps.clock.now(), by: who, plan: by, status } as const;
        addRow(remember(ranges, key, () => ({ entry, rows: [] })).rows, step, row);
      }
    }
  }
  if (ranges.size === 0) return run;
  const entries = [...ranges.values()].map((noted): RetryEntry => ({ ...noted.entry, rows: noted.rows }));
  await appendToRun(run, { entries, lock }, deps);
  return readRunRows(deps.files, { directory, plan });
}
