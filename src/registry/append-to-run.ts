import { join } from 'node:path';
import { type CloseEntry, JOURNAL_VERSION, type JournalEntry } from '../journal/entry-format.js';
import type { JournalEnd } from '../journal/reader.js';
import type { RunState } from '../journal/replay.js';
import { continueJournal } from '../journal/writer.js';
import { JOURNAL_FILE, type Plan } from '../plan/format/plan-file.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';

/** A run as its journal was read, behind the lock of its job. */
export interface ReadRun {
  readonly directory: string;
  readonly plan: Plan;
  readonly state: RunState;
  readonly end: JournalEnd;
}

const ENTRIES_AT_ONCE = 500;

/**
 * Appends entries, durably and in their order, to the journal of a run that nobody runs. A run that had ended ends as it did
 * before, or with `close`. A process that dies in the middle leaves the first so many of them.
 */
export function appendToRun(
  run: ReadRun,
  {
    entries,
    ...end
  }: { entries: Iterable<JournalEntry> | AsyncIterable<JournalEntry>; lock: Lock; close?: CloseEntry },
  deps: Ports,
): Promise<void> {
  return extendRun(run, { ...end, deps }, async (append) => {
    let waiting: JournalEntry[] = [];
    for await (const entry of entries) {
      waiting.push(entry);
      if (waiting.length < ENTRIES_AT_ONCE) continue;
      await append(waiting);
      waiting = [];
    }
    await append(waiting);
  });
}

/** The same for a task that appends bit by bit: what it appended is durable once that call returns. */
export async function extendRun(
  { directory, plan, state, end }: ReadRun,
  { lock, deps, close = state.lastClose }: { lock: Lock; deps: Ports; close?: CloseEntry | undefined },
  task: (append: (entries: readonly JournalEntry[]) => Promise<void>) => Promise<void>,
): Promise<void> {
  await lock.assertHeld();
  const writer = await continueJournal(deps.files, join(directory, JOURNAL_FILE), { end, plan: plan.id, lock });
  try {
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
  } finally {
    await writer.close();
  }
}
