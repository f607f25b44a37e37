import { join } from 'node:path';
import { countOf } from '../domain/count-of.js';
import type { RowVerdict } from '../domain/row.js';
import type { SettleEntry } from '../journal/entry-format.js';
import { JournalWindow } from '../journal/journal-window.js';
import { readJournal } from '../journal/reader.js';
import { keyOf, RunState } from '../journal/replay.js';
import { JOURNAL_FILE } from '../plan/format/plan-file.js';
import { type AppendDeps, extendRun } from '../registry/append-to-run.js';
import { withdrawSummary } from '../report/write-report.js';
import type { LockedRun } from './settle-rows.js';

/** What the service said to the cancel of a batch; `unknown`: no answer says what became of it. */
export type CancelAnswer =
  | { readonly kind: 'cancelled'; readonly count: number }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown' };

export interface CancelOptions {
  /** The operator, for the journal. */
  readonly person: string;
  /** Number of the step whose batches are taken back. */
  readonly step: number;
  readonly cancel: (batchId: string) => Promise<CancelAnswer>;
  /** Ends it before the next batch. */
  readonly signal: AbortSignal;
}

export interface CancelCounts {
  batches: number;
  /** Rows. */
  cancelled: number;
  /** The service's reasons for refusing, and how many batches each was for. */
  readonly refusals: Record<string, number>;
}

/** A batch that the service accepted, by the place of its outcome in the journal. */
interface AcceptedBatch {
  readonly step: number;
  readonly first: number;
  readonly offset: number;
}

/**
 * Takes accepted messages back from the service, batch by batch. Before a cancel leaves, its rows are in doubt, durably: so they
 * are where no answer comes, or the process dies. A count that is not that of the batch leaves them there: the service does not say
 * which messages it took back. The caller writes the outputs again.
 */
export async function cancelBatches(run: LockedRun, options: CancelOptions, deps: AppendDeps): Promise<CancelCounts> {
  const counts: CancelCounts = { batches: 0, cancelled: 0, refusals: {} };
  const path = join(run.directory, JOURNAL_FILE);
  const batches = await listAccepted(run, options.step, deps);
  const window = new JournalWindow(deps.files, path);
  try {
    await withdrawSummary(deps.files, run.directory);
    await extendRun(run, { lock: run.lock, deps }, async (append) => {
      for (const batch of batches) {
        if (options.signal.aborted) return;
        const accepted = await readAccepted(run, batch, window);
        if (accepted === undefined) continue;
        const settle = (verdict: RowVerdict): SettleEntry => ({
          type: 'settle',
          step: batch.step,
          at: deps.clock.now(),
          by: `cancel ${options.person}`,
          verdicts: [verdict],
          rows: accepted.rows.map(({ row, ids }) => [row, 0, ...ids]),
        });
        await append([{ ...settle(CANCELLING), from: 'accepted' }]);
        counts.batches += 1;
        const answer = await options.cancel(accepted.batchId);
        const verdict = decide(answer, accepted);
        if (verdict !== undefined) await append([settle(verdict)]);
        if (answer.kind === 'refused') counts.refusals[answer.reason] = (counts.refusals[answer.reason] ?? 0) + 1;
        if (verdict?.status === 'not-sent') counts.cancelled += accepted.rows.length;
      }
    });
  } finally {
    await window.close();
  }
  return counts;
}

const CANCELLING: RowVerdict = {
  status: 'in-doubt',
  code: 'cancelling',
  reason: 'A cancel was sent to the service, and no answer says what became of it',
};

/** Undefined: nothing more is known. */
function decide(answer: CancelAnswer, { messages, before }: AcceptedRows): RowVerdict | undefined {
  if (answer.kind === 'unknown') return undefined;
  if (answer.kind === 'refused' || answer.count === 0) return before;
  if (answer.count === messages)
    return { status: 'not-sent', code: 'cancelled', reason: 'Taken back from the service before it was sent' };
  return {
    status: 'in-doubt',
    code: 'partly-cancelled',
    reason: `The service took back ${countOf(answer.count, 'message')} of ${messages} of the batch, and does not say which`,
  };
}

async function listAccepted({ directory }: LockedRun, step: number, { files }: AppendDeps): Promise<AcceptedBatch[]> {
  const found: AcceptedBatch[] = [];
  const state = new RunState();
  await readJournal(files, join(directory, JOURNAL_FILE), ({ entry, offset }) => {
    if (entry.type === 'outcome' && entry.result.kind === 'settled' && entry.step === step) {
      const open = state.step(entry.step).open.get(keyOf(entry));
      if (open !== undefined) found.push({ step: entry.step, first: open.rows[0], offset });
    }
    state.apply(entry);
  });
  return found;
}

interface AcceptedRows {
  readonly batchId: string;
  /** As many as the service accepted in the batch. */
  readonly messages: number;
  /** What all of them are. */
  readonly before: RowVerdict;
  /** Those that are accepted still. */
  readonly rows: readonly { readonly row: number; readonly ids: readonly string[] }[];
}

/** Undefined for a batch that has none, or no id. */
async function readAccepted(
  run: LockedRun,
  { step, first, offset }: AcceptedBatch,
  window: JournalWindow,
): Promise<AcceptedRows | undefined> {
  const entry = await window.readEntry(offset);
  if (entry.type !== 'outcome' || entry.result.kind !== 'settled') return undefined;
  const { rows, verdicts, shared } = entry.result.outcomes;
  const accepted = rows.flatMap(([index, ...ids], at) =>
    verdicts[index]?.status === 'accepted' ? [{ row: first + at, verdict: verdicts[index], ids }] : [],
  );
  const left = accepted.filter(({ row }) => run.rows.isAccepted(step, row));
  const [batchId = ''] = shared;
  const before = left[0]?.verdict;
  if (before === undefined || batchId === '') return undefined;
  return { batchId, messages: accepted.length, before, rows: left };
}
