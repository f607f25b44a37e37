import { join } from 'node:path';
import { closing } from '../domain/closing.js';
import { sumOf } from '../domain/count-of.js';
import { isRowStep } from '../job/job.js';
import {
  type ActedEntry,
  type CloseEntry,
  JOURNAL_VERSION,
  type JournalEntry,
  type OutcomeEntry,
  type PartResult,
} from '../journal/entry-format.js';
import type { RunState } from '../journal/replay.js';
import { continueJournal } from '../journal/writer.js';
import { kindOf } from '../kinds/kinds.js';
import { inDoubt, sameVerdictForAll } from '../kinds/outcomes.js';
import { JOURNAL_FILE, type Plan } from '../plan/format/plan-file.js';
import type { RunRows } from '../report/run-rows.js';
import { withdrawSummary } from '../report/write-report.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';

/** A run as its journal was read, behind the lock of its job. */
type ReadRun = Omit<RunRows, 'rows'>;

const ENTRIES_AT_ONCE = 500;

/**
 * Appends entries, durably and in their order, to the journal of a run that nobody runs, and withdraws its summary first: the caller writes
 * its outputs again. A run that had ended ends as it did before, or with `close`. A process that dies in the middle leaves the first so many of them.
 */
export function appendToRun(
  run: ReadRun,
  append: { entries: Iterable<JournalEntry> | AsyncIterable<JournalEntry>; lock: Lock; close?: CloseEntry },
  deps: Ports,
): Promise<void> {
  const { entries, ...end } = append;
  return extendRun(run, { ...end, deps }, (append) => appendInBlocks(entries, append));
}

/** Appends many entries, so many at once that they share a sync. */
export async function appendInBlocks(
  entries: Iterable<JournalEntry> | AsyncIterable<JournalEntry>,
  append: (block: readonly JournalEntry[]) => Promise<void>,
): Promise<void> {
  let waiting: JournalEntry[] = [];
  for await (const entry of entries) {
    waiting.push(entry);
    if (waiting.length < ENTRIES_AT_ONCE) continue;
    await append(waiting);
    waiting = [];
  }
  await append(waiting);
}

/** Does what `appendToRun` does for a task that appends bit by bit: what it appended is durable once that call returns. */
export async function extendRun(
  { directory, plan, state, end }: ReadRun,
  { lock, deps, close = state.lastClose }: { lock: Lock; deps: Ports; close?: CloseEntry | undefined },
  task: (append: (entries: readonly JournalEntry[]) => Promise<void>) => Promise<void>,
): Promise<void> {
  await lock.assertHeld();
  await withdrawSummary(deps.files, directory);
  await lock.assertHeld();
  await using writer = closing(
    await continueJournal(deps.files, join(directory, JOURNAL_FILE), { end, plan: plan.id, lock }),
  );
  const { lastClose } = state;
  // Lines that begin with an open one stand in spite of a torn tail, or of the last word of a runner that lost its lock.
  if (lastClose === undefined || end.tornBytes > 0) {
    const { host, pid } = deps.owner;
    await writer.append({ type: 'open', version: JOURNAL_VERSION, plan: plan.id, at: deps.clock.now(), host, pid });
  }
  await task(async (entries) => {
    await lock.assertHeld();
    await Promise.all(entries.map((entry) => writer.append(entry)));
  });
  if (close !== undefined) await writer.append(close);
}

export const RUN_ENDED = inDoubt(
  'run-ended',
  'The run ended before the answer came: it may or may not have been processed',
);

/** What was under way in one step when a process died, each with how it ends. */
interface EndedStep {
  readonly entries: readonly (OutcomeEntry | ActedEntry)[];
  /** Rows that are in doubt by it; undefined for a step without rows. */
  readonly inDoubt: number | undefined;
}

/**
 * A request between intent and outcome when its process dies may or may not have been processed: its rows are in doubt, or sent again
 * where that is safe. `mayQuery`: what the service can be asked about stays open, for the turn of its step.
 */
export function endInFlight(
  { job }: Pick<Plan, 'job'>,
  state: RunState,
  { number, at, mayQuery }: { number: number; at: number; mayQuery: boolean },
): EndedStep {
  const step = job.steps[number - 1];
  const progress = state.step(number);
  if (step === undefined || !isRowStep(step)) {
    const isOpen = step !== undefined && progress.action?.isOpen === true;
    return { entries: isOpen ? [{ type: 'acted', step: number, at, verdict: RUN_ENDED }] : [], inDoubt: undefined };
  }
  const kind = kindOf(step);
  if (mayQuery && kind.outcomeQuery !== undefined) return { entries: [], inDoubt: 0 };
  const isRepeatable = kind.isRepeatable(step);
  const open = [...progress.open.values()].filter(({ isInFlight }) => isInFlight);
  const entries = open.map(({ step, request, part, rows }): OutcomeEntry => {
    const result: PartResult = isRepeatable
      ? { kind: 'again', why: 'the run ended before the answer came' }
      : { kind: 'settled', outcomes: sameVerdictForAll(rows[1], RUN_ENDED) };
    return { type: 'outcome', step, request, part, at, result };
  });
  return { entries, inDoubt: isRepeatable ? 0 : sumOf(open.map(({ rows }) => rows[1])) };
}
