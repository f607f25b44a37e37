import type { NotSent } from '../domain/row.js';
import { formatTime, type StatedTime } from '../domain/stated-time.js';
import type { JournalEntry, PartResult } from '../journal/entry-format.js';
import type { OpenRequest, StepProgress } from '../journal/replay.js';
import type { PlannedStep } from '../plan/format/plan-file.js';
import { appendInBlocks } from '../registry/append-to-run.js';
import type { Files } from '../storage/files.js';
import type { Held } from '../storage/lock.js';
import type { Journal, RunDeps } from './run-deps.js';
import { RequestReader } from './send/request-reader.js';

/**
 * What a run will not send is given up in its journal: each request, or what is left of one, has an intent under which nothing was
 * sent, and ends with a verdict for all of its rows. What may have been sent is never given up.
 */

export function giveUp(open: OpenRequest, verdict: NotSent, at: number): JournalEntry[] {
  return endUnsent(open, { kind: 'given-up', verdict }, at);
}

/**
 * How a request, or a part of one, ends without being sent: an intent, and its outcome. Appended together they go in one write: a power cut
 * within it leaves an intent alone, and its rows in doubt.
 */
export function endUnsent(
  { step, request, part, line, rows }: OpenRequest,
  result: PartResult,
  at: number,
): JournalEntry[] {
  const key = { step, request, part, at };
  return [
    { type: 'intent', ...key, line, rows },
    { type: 'outcome', ...key, result },
  ];
}

/** Gives up all of these, durably, in the journal of a run that is under way. Gives their rows. */
export async function giveUpAll(
  unsent: Iterable<OpenRequest> | AsyncIterable<OpenRequest>,
  verdict: NotSent,
  { journal, lock, deps }: { journal: Journal; lock: Held; deps: Pick<RunDeps, 'clock'> },
): Promise<number> {
  let rows = 0;
  const entries = async function* () {
    for await (const open of unsent) {
      rows += open.rows[1];
      yield* giveUp(open, verdict, deps.clock.now());
    }
  };
  await appendInBlocks(entries(), async (block) => {
    await lock.assertHeld();
    await Promise.all(block.map((entry) => journal.append(entry)));
  });
  return rows;
}

/** What of a step waits to be sent again, and what was never begun. */
export async function* listUnsent(
  planned: PlannedStep,
  progress: StepProgress,
  { directory, files }: { directory: string; files: Files },
): AsyncGenerator<OpenRequest> {
  const waiting = [...progress.open.values()].filter(({ isInFlight }) => !isInFlight);
  const reader = await RequestReader.open(files, directory, planned, progress);
  yield* waiting;
  try {
    for (let next = await reader.next(); next !== undefined; next = await reader.next()) yield next.open;
  } finally {
    await reader.close();
  }
}

/** Says of rows that they were not sent by the time after which their job may not send. */
export function tooLate(notAfter: StatedTime, so: 'had passed' | 'comes before the window opens again'): NotSent {
  return { status: 'not-sent', code: 'too-late', reason: `notAfter, ${formatTime(notAfter)}, ${so}` };
}
