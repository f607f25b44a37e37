import { dirname } from 'node:path';
import { closing } from '../domain/closing.js';
import { UserError } from '../domain/errors.js';
import type { RowStatusView } from '../journal/row-status-view.js';
import type { PlanAt } from '../plan/format/plan-file.js';
import { lockJob } from '../registry/memory-file.js';
import { writeRunReport } from '../registry/write-run-report.js';
import {
  decideByStates,
  openReceipts,
  type Receipt,
  type ReceiptState,
  type Receipts,
} from '../report/delivery-receipts.js';
import { readRunRows } from '../report/run-rows.js';
import type { Summary } from '../report/summary.js';
import { checkNames } from '../report/write-from-growing.js';
import type { Lock } from '../storage/lock.js';
import type { LockPorts, Ports } from '../storage/lock-file.js';
import { type LockedRun, NONE_SETTLED, type Proof, type SettledCounts, settleRows } from './settle-rows.js';

/** The result of joining receipts to their run. */
export type JoinEnd =
  /** There are no receipts yet, or nothing was sent. */
  | { readonly kind: 'nothing' }
  /** Another process has the job: nothing was written. */
  | { readonly kind: 'held'; readonly said: string }
  | {
      readonly kind: 'joined';
      /** Receipts in its file that are of others. */
      readonly foreign: number;
      readonly settled: SettledCounts;
      readonly summary: Summary;
    };

/**
 * Settles the rows in doubt of which receipts show what became of them, then writes the run's outputs again, with its deliveries. Everything
 * comes from plan, journal and receipts on disk, so the next call repairs what a dying process leaves. Takes the job's
 * lock, unless a finished run has nothing to settle: then no runner writes in its directory.
 */
export async function joinReceipts({ directory, plan }: PlanAt, deps: LockPorts): Promise<JoinEnd> {
  await using receipts = closing(await openReceipts(deps.files, directory, plan));
  if (receipts === undefined) return { kind: 'nothing' };
  // Read again: the first read was before the lock was taken.
  const lockRun = async (lock: Lock) => ({ ...(await readRunRows(deps.files, { directory, plan })), lock });
  const { rows, state } = await readRunRows(deps.files, { directory, plan });
  if (state.firstOpen === undefined) return { kind: 'nothing' };
  const isToSettle = hasDecided(rows, receipts);
  const locking = isToSettle || !state.isFinished ? await tryLock(deps, dirname(directory)) : undefined;
  if (locking !== undefined && 'said' in locking) return { kind: 'held', said: locking.said };
  try {
    const lock = locking?.lock;
    const settled = lock === undefined ? NONE_SETTLED : await settleReceipts(await lockRun(lock), receipts, deps);
    const files = lock === undefined ? deps.files : checkNames(deps.files, () => lock.assertHeld());
    const summary = await writeRunReport(files, directory, plan);
    return { kind: 'joined', foreign: receipts.foreign, settled, summary };
  } finally {
    await locking?.lock.release();
  }
}

function hasDecided(rows: RowStatusView, receipts: Receipts): boolean {
  for (const each of rows.listInDoubt()) if (isDecided(rows, receipts, each)) return true;
  return false;
}

/** Whether the receipts of a row in doubt show what became of it, or that they contradict each other, where that is not noted yet. */
function isDecided(rows: RowStatusView, receipts: Receipts, { step, row }: { step: number; row: number }): boolean {
  const decision = decideByStates(receipts.statesOf(step, row));
  if (decision === 'contradiction') return rows.codeOf(step, row) !== 'contradiction';
  return decision !== undefined;
}

async function tryLock(deps: LockPorts, jobDirectory: string): Promise<{ lock: Lock } | { said: string }> {
  try {
    return { lock: await lockJob(deps, jobDirectory) };
  } catch (error) {
    if (error instanceof UserError && error.code === 'lock-held') return { said: error.message };
    throw error;
  }
}

/**
 * Settles the rows in doubt that receipts on disk decide, under the job's lock; the caller writes the outputs. The
 * service's own receipts take precedence over any other source: a listener may have died before it joined them.
 */
export async function settleByReceipts(run: LockedRun, deps: Ports): Promise<SettledCounts> {
  await using receipts = closing(await openReceipts(deps.files, run.directory, run.plan));
  if (receipts === undefined) return NONE_SETTLED;
  return await settleReceipts(run, receipts, deps);
}

async function settleReceipts(run: LockedRun, receipts: Receipts, deps: Ports): Promise<SettledCounts> {
  const findProof = async ({ step, row }: { step: number; row: number }) => {
    if (!isDecided(run.rows, receipts, { step, row })) return undefined;
    const receipt = await receipts.receiptOf(step, row);
    return receipt === undefined ? undefined : proofOf(receipt, receipts.statesOf(step, row));
  };
  return settleRows(run, { by: 'receipt', findProof }, deps);
}

/** `states`: all that the receipts of the row say, of which one decides. */
function proofOf({ umid, state, errorCode, errorMessage, detail }: Receipt, states: readonly ReceiptState[]): Proof {
  const decision = decideByStates(states);
  if (decision === 'contradiction') {
    const reason = `Delivery receipts contradict each other: ${states.join(', ')}`;
    return { verdict: { status: 'in-doubt', code: 'contradiction', reason }, ids: [umid] };
  }
  if (decision === 'sent') {
    return { verdict: { status: 'accepted', code: 'RECEIPT', reason: `Delivery receipt: ${state}` }, ids: [umid] };
  }
  const reason = [errorMessage, detail].find((text) => text !== '') ?? 'Delivery receipt: rejected';
  const code = errorCode === '' ? 'REJECTED' : errorCode;
  return { verdict: { status: 'rejected', code, reason: reason.slice(0, LONGEST_REASON) }, ids: [umid] };
}

const LONGEST_REASON = 300;
