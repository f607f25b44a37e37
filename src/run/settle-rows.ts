import { join } from 'node:path';
import type { Clock } from '../clock.js';
import type { RowStatus, Verdict } from '../domain.js';
import type { Files } from '../files.js';
import { JOURNAL_VERSION, type SettleEntry } from '../journal/format.js';
import { continueJournal } from '../journal/writer.js';
import { JOURNAL_FILE, type Plan } from '../plan/file.js';
import { InDoubtRows } from './in-doubt-rows.js';
import type { Lock, Owner } from './lock.js';

/** What tells that a row in doubt was processed, or was not. */
export interface Proof {
  readonly verdict: Verdict & { readonly status: Exclude<RowStatus, 'in-doubt'> };
  /** Ids that the service gave the row. */
  readonly ids: readonly string[];
}

/** Undefined: nothing is known of the row, and it stays in doubt. */
export type FindProof = (row: { readonly step: number; readonly row: number }) => Promise<Proof | undefined>;

export interface SettleOptions {
  readonly directory: string;
  readonly plan: Plan;
  /** Of the job: nobody else may write to the journal meanwhile. */
  readonly lock: Lock;
  /** What told it, for the journal. */
  readonly by: string;
  readonly findProof: FindProof;
}

export interface SettleDeps {
  readonly files: Files;
  readonly clock: Pick<Clock, 'now'>;
  readonly owner: Owner;
}

export interface SettledCounts {
  readonly accepted: number;
  readonly rejected: number;
}

const ROWS_A_LINE = 1000;

/**
 * Gives each row in doubt that there is a proof for its verdict, durably and once: rows with any other verdict are never
 * touched, and what was settled before is not asked for again. The journal of a run that had ended ends as it did before.
 */
export async function settleRows(options: SettleOptions, deps: SettleDeps): Promise<SettledCounts> {
  const { directory, plan, lock } = options;
  const { rows, end } = await InDoubtRows.read(deps.files, directory, plan);
  const entries = await buildEntries(options, { rows, at: deps.clock.now() });
  if (entries.length === 0) return { accepted: 0, rejected: 0 };

  await lock.assertHeld();
  const writer = await continueJournal(deps.files, join(directory, JOURNAL_FILE), { end, lockEpoch: lock.epoch });
  try {
    const { lastClose } = rows.state;
    // Lines that begin with an open one stand in spite of a torn tail, or of the last word of a runner that lost its lock.
    if (lastClose === undefined || end.tornBytes > 0) {
      const { host, pid } = deps.owner;
      await writer.append({ type: 'open', version: JOURNAL_VERSION, plan: plan.id, at: deps.clock.now(), host, pid });
    }
    for (const entry of entries) {
      await lock.assertHeld();
      await writer.append(entry);
    }
    if (lastClose !== undefined) await writer.append(lastClose);
    return countVerdicts(entries);
  } finally {
    await writer.close();
  }
}

async function buildEntries(
  { by, findProof }: SettleOptions,
  { rows, at }: { rows: InDoubtRows; at: number },
): Promise<SettleEntry[]> {
  const entries: SettleEntry[] = [];
  let line: { step: number; verdicts: Verdict[]; rows: [number, number, ...string[]][] } | undefined;
  for (const { step, row } of rows.list()) {
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

function indexOf(verdict: Verdict, verdicts: Verdict[]): number {
  const { status, code, reason } = verdict;
  const known = verdicts.findIndex((each) => each.status === status && each.code === code && each.reason === reason);
  return known === -1 ? verdicts.push({ status, code, reason }) - 1 : known;
}

function countVerdicts(entries: readonly SettleEntry[]): SettledCounts {
  const counts = { accepted: 0, rejected: 0 };
  for (const { verdicts, rows } of entries) {
    for (const [, index] of rows) {
      if (verdicts[index]?.status === 'accepted') counts.accepted += 1;
      else counts.rejected += 1;
    }
  }
  return counts;
}
