import { join } from 'node:path';
import { isLeftOutCode } from '../domain/row-codes.js';
import type { RowRange } from '../journal/entry-format.js';
import { readJournal } from '../journal/reader.js';
import { type RowId, readRowId } from '../kinds/ids.js';
import { accountOfKind } from '../plan/format/account-of.js';
import { JOURNAL_FILE, type Plan, type RetryOf } from '../plan/format/plan-file.js';
import { idStartOf, isRefusedRow, RefusedRows, type RowName } from '../plan/reimport/refused-rows.js';
import { readRowsOfOthers } from '../plan/reimport/rows-of-others.js';
import type { Files } from '../storage/files.js';
import { Claims } from './claims.js';
import type { PastRun } from './read-runs.js';
import type { ClaimedEntry } from './registry-entry.js';

/** Of rows that came back as input. */
const REIMPORTED = 're-import';

type Claimant = Pick<Plan, 'id' | 'job' | 'occurrence' | 'retryOf'>;

/** Rows that a plan claims, by the kind of its step and their `from`. */
class RowsToClaim {
  readonly #rows = new Map<string, { kind: string; from: string; numbers: number[]; end: number }>();
  count = 0;

  add(kind: string, { from, row }: RowName, count = 1): void {
    const rows = this.#rows.get(`${kind} ${from}`) ?? { kind, from, numbers: [], end: 0 };
    this.#rows.set(`${kind} ${from}`, rows);
    const { numbers, end } = rows;
    rows.end = row + count;
    if (row === end && numbers.length > 0) numbers.push((numbers.pop() ?? 0) + count);
    else numbers.push(row - end, count);
  }

  /** None where there is nothing to claim. */
  describe({ id, job, occurrence, retryOf }: Claimant, { at, by }: { at: number; by: string }): ClaimedEntry[] {
    if (this.count === 0) return [];
    const rows = [...this.#rows.values()].map(({ kind, from, numbers }) => {
      return { kind, account: accountOfKind(job, kind), from, rows: numbers.join() };
    });
    const who = { plan: id, by, occurrence, retryOf: retryOf ?? null };
    return [{ type: 'claimed', at, ...who, count: this.count, rows }];
  }
}

/** Which rows of a run a retry takes. */
export function rowsOf(only: RetryOf['only'] | undefined): Pick<RowId, 'isPlanned' | 'isLeftOut'> {
  return isLeftOutCode(only) ? { isPlanned: false, isLeftOut: true } : { isPlanned: true };
}

/** What a plan that retries rows of a run takes of them. */
export function describeRetry(
  plan: Claimant,
  { source, ranges, ...about }: { source: Plan; ranges: readonly RowRange[]; at: number; by: string },
): ClaimedEntry[] {
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
): Promise<ClaimedEntry[]> {
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

/** What plans had claimed before the registry knew of claims: by the rows of those that were begun, and by the journals of the runs that gave them up. */
export async function describePastClaims(
  files: Files,
  { history, at }: { history: readonly PastRun[]; at: number },
): Promise<ClaimedEntry[]> {
  const claims = new Claims();
  const entries: ClaimedEntry[] = [];
  const add = (made: readonly ClaimedEntry[]) => {
    entries.push(...made);
    for (const entry of made) claims.apply(entry);
  };
  const plans = new Map(history.map(({ plan }) => [plan.id, plan]));
  for (const { directory, plan: source } of history) {
    await readJournal(files, join(directory, JOURNAL_FILE), ({ entry }) => {
      if (entry.type !== 'retry') return;
      const { plan: id, by, status, rows: ranges } = entry;
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
