import { join } from 'node:path';
import { closing } from '../domain/closing.js';
import { countOf, sumOf } from '../domain/count-of.js';
import { remember } from '../domain/is-object.js';
import type { RowVerdict } from '../domain/row.js';
import type { SettleEntry } from '../journal/entry-format.js';
import { createJournalWindow, type JournalWindow } from '../journal/reader.js';
import type { OutcomePlace } from '../journal/row-status-view.js';
import { JOURNAL_FILE } from '../plan/format/plan-file.js';
import { extendRun } from '../registry/append-to-run.js';
import type { Ports } from '../storage/lock-file.js';
import type { LockedRun } from './settle-rows.js';

/** What the service said to the cancel of a batch; `unknown`: no answer says what became of it; `not-asked`: the cancel never left. */
export type CancelAnswer =
  | { readonly kind: 'cancelled'; readonly count: number }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'not-asked' };

export interface CancelCounts {
  batches: number;
  cancelled: number;
  /** The service's reasons for refusing, and how many batches each was for. */
  readonly refusals: Record<string, number>;
}

export function noneCancelled(): CancelCounts {
  return { batches: 0, cancelled: 0, refusals: {} };
}

/** The outcome of a request, or a part of one, of which the service accepted rows. */
interface AcceptedPart extends OutcomePlace {
  readonly step: number;
}

/**
 * Takes accepted messages back from the service, batch by batch. Before a cancel leaves, its rows are in doubt, durably: so they
 * are where no answer comes, or the process dies. Its count proves something where it is that of all messages which may be in the batch:
 * not where a row of it is in doubt, nor where the service gave its id to another batch as well. It adds to `counts`. The caller writes the
 * outputs again. `person`: the operator, for the journal; `step`: the one whose batches are taken back; `signal` ends it before the next batch.
 */
export async function cancelBatches(
  run: LockedRun,
  options: { person: string; step: number; cancel: (batchId: string) => Promise<CancelAnswer>; signal: AbortSignal },
  deps: Ports,
  counts = noneCancelled(),
): Promise<CancelCounts> {
  await using journal = closing(createJournalWindow(deps.files, join(run.directory, JOURNAL_FILE)));
  const batches = await listAccepted(run, journal);
  await extendRun(run, { lock: run.lock, deps }, async (append) => {
    for (const [batchId, parts] of batches) {
      if (options.signal.aborted) return;
      if (!parts.some(({ step }) => step === options.step)) continue;
      const accepted: AcceptedRows[] = [];
      for (const part of parts) accepted.push(await readAccepted(part, journal));
      if (!areAccepted(accepted, run)) continue;
      const settle = (verdict: RowVerdict | 'before') =>
        settleAs(verdict, accepted, { at: deps.clock.now(), by: `cancel ${options.person}` });
      await append(settle(CANCELLING).map((entry) => ({ ...entry, from: 'accepted' })));
      const answer = await options.cancel(batchId);
      const verdict = decide(answer, accepted);
      if (verdict !== 'unknown') await append(settle(verdict));
      if (verdict === TAKEN_BACK) counts.cancelled += countRows(accepted);
      count(answer, counts);
    }
  });
  return counts;
}

function count(answer: CancelAnswer, counts: CancelCounts): void {
  if (answer.kind !== 'not-asked') counts.batches += 1;
  if (answer.kind === 'refused') counts.refusals[answer.reason] = (counts.refusals[answer.reason] ?? 0) + 1;
}

/** Whether all rows are accepted still; not after an earlier cancel: a second one cannot tell what the first one did. */
function areAccepted(accepted: readonly AcceptedRows[], { rows }: LockedRun): boolean {
  return accepted.every((each) => each.rows.every(({ row }) => rows.endOf(each.step, row)?.status === 'accepted'));
}

const CANCELLING: RowVerdict = {
  status: 'in-doubt',
  code: 'cancelling',
  reason: 'A cancel was sent to the service, and no answer says what became of it',
};

const TAKEN_BACK: RowVerdict = {
  status: 'not-sent',
  code: 'cancelled',
  reason: 'Taken back from the service before it was sent',
};

/** What the rows of a batch are then; `before`: each what it was. */
function decide(answer: CancelAnswer, accepted: readonly AcceptedRows[]): RowVerdict | 'before' | 'unknown' {
  if (answer.kind === 'unknown') return 'unknown';
  if (answer.kind !== 'cancelled' || answer.count === 0) return 'before';
  const messages = countRows(accepted);
  const inDoubt = sumOf(accepted.map((each) => each.inDoubt));
  const isSure = accepted.length === 1 && inDoubt === 0;
  if (isSure && answer.count === messages) return TAKEN_BACK;
  const others = accepted.length > 1 ? `, whose id it gave to ${accepted.length} batches` : '';
  const open = inDoubt > 0 ? `, of which ${countOf(inDoubt, 'more was', 'more were')} in doubt` : '';
  return {
    status: 'in-doubt',
    code: 'partly-cancelled',
    reason: `The service took back ${countOf(answer.count, 'message')} of ${messages} of the batch${others}${open}, and does not say which`,
  };
}

function settleAs(
  verdict: RowVerdict | 'before',
  accepted: readonly AcceptedRows[],
  about: { at: number; by: string },
): SettleEntry[] {
  return accepted.map(({ step, verdicts, rows }) => ({
    type: 'settle',
    step,
    ...about,
    verdicts: verdict === 'before' ? verdicts : [verdict],
    rows: rows.map(({ row, verdict: before, ids }) => [row, verdict === 'before' ? before : 0, ...ids]),
  }));
}

function countRows(accepted: readonly AcceptedRows[]): number {
  return sumOf(accepted.map(({ rows }) => rows.length));
}

/** By the id of their batch: all of the run, since the service may give one id to several. Without an id, none can be taken back. */
async function listAccepted(
  { plan, rows: view }: LockedRun,
  journal: JournalWindow,
): Promise<Map<string, AcceptedPart[]>> {
  const batches = new Map<string, AcceptedPart[]>();
  for (const { number: step, counts } of plan.steps.filter(({ kind }) => kind === 'sms')) {
    for (let request = 1; request <= counts.requests; request += 1) {
      for (const place of view.outcomesOf(step, request)) {
        const { shared, verdicts, rows } = await journal.readOutcomes(place.offset);
        const [batchId = ''] = shared;
        if (batchId === '' || !rows.some(([index]) => verdicts[index]?.status === 'accepted')) continue;
        remember(batches, batchId, () => []).push({ step, ...place });
      }
    }
  }
  return batches;
}

/** What the answer said of a part: each row that was accepted with its ids and its verdict, by its index. */
interface AcceptedRows {
  readonly step: number;
  readonly verdicts: readonly RowVerdict[];
  readonly rows: readonly { readonly row: number; readonly verdict: number; readonly ids: readonly string[] }[];
  /** Rows that the answer left in doubt. */
  readonly inDoubt: number;
}

async function readAccepted({ step, first, offset }: AcceptedPart, journal: JournalWindow): Promise<AcceptedRows> {
  const { rows, verdicts } = await journal.readOutcomes(offset);
  const listOf = (status: RowVerdict['status']) =>
    rows.flatMap(([verdict, ...ids], at) =>
      verdicts[verdict]?.status === status ? [{ row: first + at, verdict, ids }] : [],
    );
  return { step, verdicts, rows: listOf('accepted'), inDoubt: listOf('in-doubt').length };
}
