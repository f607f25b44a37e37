import { join } from 'node:path';
import { UserError } from '../errors.js';
import type { Files } from '../files.js';
import { readJournal } from '../journal/reader.js';
import { JOURNAL_FILE, type Plan } from '../plan/file.js';
import type { PastRun } from './history.js';

/**
 * Refuses to begin a plan of another run's rows that this run has not given to it: it, or another plan, may send them. One
 * that was begun had them.
 */
export async function assertGiven(
  files: Files,
  { plan, jobDirectory, history }: { plan: Plan; jobDirectory: string; history: readonly PastRun[] },
): Promise<void> {
  const { retryOf } = plan;
  if (retryOf === undefined || history.some((run) => run.plan.id === plan.id && run.state !== 'planned')) return;
  let isGiven = false;
  await readJournal(files, join(jobDirectory, retryOf.run, JOURNAL_FILE), ({ entry }) => {
    isGiven ||= entry.type === 'retry' && entry.plan === plan.id;
  });
  if (isGiven) return;
  throw new UserError(
    'plan-mismatch',
    `Cannot apply plan ${plan.id}: run ${retryOf.run} has not given its rows to it, they might be sent twice`,
    { hint: 'The command that made it did not come to its end: give the same `volley retry` again.' },
  );
}
