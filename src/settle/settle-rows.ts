import type { RowVerdict } from '../domain/row.js';
import type { SettleEntry } from '../journal/entry-format.js';
import type { RowStatusView } from '../journal/row-status/row-status-view.js';
import { appendToRun } from '../registry/append-to-run.js';
import type { RunRows } from '../report/read-run-rows.js';
import { withdrawSummary } from '../report/write-report.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';

/** Proof that a row in doubt was processed, or was not; or that what is known of it contradicts itself, so that it stays in doubt. */
export interface Proof {
  readonly verdict: RowVerdict;
  /** Ids that the service gave the row. */
  readonly ids: readonly string[];
}

/** Undefined: unresolved, the row remains in doubt. */
type FindProof = (row: { readonly step: number; readonly row: number }) => Promise<Proof | undefined>;

/** A run as read under the job's lock, so that no other process writes to it. */
export interface LockedRun extends RunRows {
  readonly lock: Lock;
}

interface SettleOptions {
  /** The source of the proofs, for the journal. */
  readonly by: string;
  readonly findProof: FindProof;
}

export interface SettledCounts {
  readonly accepted: number;
  readonly rejected: number;
  readonly notSent: number;
}

export const NONE_SETTLED: SettledCounts = { accepted: 0, rejected: 0, notSent: 0 };

export function addSettled(one: SettledCounts, other: SettledCounts): SettledCounts {
  return {
    accepted: one.accepted + other.accepted,
    rejected: one.rejected + other.rejected,
    notSent: one.notSent + other.notSent,
  };
}

const ROWS_A_LINE = 1000;

/**
 * Gives each row in doubt with a proof its verdict, durably and once: rows with any other verdict are never touched,
 * and settled rows are not looked up again. The journal of a finished run keeps its final state. The caller writes the
 * outputs again; until then the run has none, and the next `run` of the job writes them.
 */
export async function settleRows(run: LockedRun, options: SettleOptions, deps: Ports): Promise<SettledCounts> {
  const { directory, rows, lock } = run;
  const entries = await buildEntries(options, { rows, at: deps.clock.now() });
  if (entries.length === 0) return NONE_SETTLED;
  await lock.assertHeld();
  await withdrawSummary(deps.files, directory);
  await appendToRun(run, { entries, lock }, deps);
  return countVerdicts(entries);
}

async function buildEntries(
  { by, findProof }: SettleOptions,
  { rows, at }: { rows: RowStatusView; at: number },
): Promise<SettleEntry[]> {
  const entries: SettleEntry[] = [];
  let line: { step: number; verdicts: RowVerdict[]; rows: [number, number, ...string[]][] } | undefined;
  for (const { step, row } of rows.listInDoubt()) {
    const proof = await findProof({ step, row });
    if (proof === undefined) continue;
    if (line === undefined || line.step !== step || line.rows.length >= ROWS_A_LINE) {
      line = { step, verdicts: [], rows: [] };
      entries.push({ type: 'settle', at, by, ...line });
    }
    line.rows.push([row, indexOf(proof.verdict, line.verdicts), ...proof.ids]);
  }
  return entries;
}

function indexOf(verdict: RowVerdict, verdicts: RowVerdict[]): number {
  const { status, code, reason } = verdict;
  const known = verdicts.findIndex((each) => each.status === status && each.code === code && each.reason === reason);
  return known === -1 ? verdicts.push(verdict) - 1 : known;
}

function countVerdicts(entries: readonly SettleEntry[]): SettledCounts {
  const counts = { accepted: 0, rejected: 0, 'in-doubt': 0, 'not-sent': 0 };
  for (const { verdicts, rows } of entries) {
    for (const [, index] of rows) counts[verdicts[index]?.status ?? 'in-doubt'] += 1;
  }
  return { accepted: counts.accepted, rejected: counts.rejected, notSent: counts['not-sent'] };
}
