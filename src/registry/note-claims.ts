import type { RetryEntry, RowRange } from '../journal/entry-format.js';
import type { RetryOf } from '../plan/format/plan-file.js';
import { idStartOf } from '../plan/reimport/refused-rows.js';
import { type RunRows, readRunRows } from '../report/read-run-rows.js';
import { withdrawSummary } from '../report/write-report.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';
import { appendToRun } from './append-to-run.js';
import type { Claim, Claims } from './claims.js';
import { rowsOf } from './describe-claims.js';

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
 * Notes in the journal of a run which of its rows other plans have claimed, as the registry knows it: the run's outputs are made from
 * its journal. To be called behind the lock; a second time there is nothing to note. Gives the run as it stands then.
 */
export async function noteClaims(run: RunRows, claims: Claims, lock: Lock, deps: Ports): Promise<RunRows> {
  const { directory, plan, rows } = run;
  const ranges = new Map<string, { entry: Omit<RetryEntry, 'rows'>; rows: RowRange[] }>();
  for (const { step, claim } of listClaimsOn(run, claims)) {
    const { plan: by, by: who } = claim.entry;
    for (const [first, count] of claim.ranges()) {
      for (let row = first; row < first + count; row++) {
        const status = rows.currentStatusOf(step, row);
        if (status !== 'rejected' && status !== 'not-sent') continue;
        const key = `${by} ${status}`;
        const entry = { type: 'retry', at: deps.clock.now(), by: who, plan: by, status } as const;
        const noted = ranges.get(key) ?? { entry, rows: [] };
        ranges.set(key, noted);
        addRow(noted.rows, step, row);
      }
    }
  }
  if (ranges.size === 0) return run;
  await lock.assertHeld();
  await withdrawSummary(deps.files, directory);
  const entries = [...ranges.values()].map((noted): RetryEntry => ({ ...noted.entry, rows: noted.rows }));
  await appendToRun(run, { entries, lock }, deps);
  return readRunRows(deps.files, { directory, plan });
}

function addRow(ranges: RowRange[], step: number, row: number): void {
  const last = ranges.at(-1);
  if (last !== undefined && last[0] === step && last[1] + last[2] === row)
    ranges[ranges.length - 1] = [step, last[1], last[2] + 1];
  else ranges.push([step, row, 1]);
}
