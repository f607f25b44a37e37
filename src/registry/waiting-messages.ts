import { join } from 'node:path';
import { countOf, sumOf } from '../domain/count-of.js';
import { undefinedOnUserError } from '../domain/errors.js';
import { formatTime } from '../domain/stated-time.js';
import { readRunState } from '../journal/reader.js';
import { listHeld } from '../kinds/schedule.js';
import { JOURNAL_FILE, type PlanAt, readPlan } from '../plan/format/plan-file.js';
import { RunDirectories } from '../plan/format/run-directories.js';
import type { Files } from '../storage/files.js';

/** A run of which the service holds messages for a time that is ahead: `volley cancel` takes them back. */
export interface WaitingRun {
  readonly run: string;
  readonly directory: string;
  /** How many were accepted. */
  readonly messages: number;
  /** `the service holds 3 messages until 1 December 2026 at 09:00 UTC` */
  readonly said: string;
}

/** Reads what the service holds of a run; undefined where no message waits. */
export async function readWaiting(
  files: Files,
  { directory, plan }: PlanAt,
  nowMs: number,
): Promise<WaitingRun | undefined> {
  const held = plan.testOf === undefined ? listHeld(plan.job, nowMs) : [];
  if (held.length === 0) return undefined;
  const { state } = await readRunState(files, join(directory, JOURNAL_FILE));
  const waiting = held.flatMap(({ number, at }) => {
    const { accepted } = state.step(number).settledRows;
    return accepted > 0 ? [{ accepted, until: formatTime(at) }] : [];
  });
  const [first, last] = [waiting[0], waiting.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const messages = sumOf(waiting.map(({ accepted }) => accepted));
  const until = first.until === last.until ? '' : `, the first of them until ${first.until}, the last`;
  const said = `the service holds ${countOf(messages, 'message')}${until} until ${last.until}`;
  return { run: plan.id, directory, messages, said };
}

/** Lists the other runs of a job with waiting messages. Writes nothing, and needs no lock; a run that cannot be read hides no other. */
export async function listOthersWaiting(
  files: Files,
  { jobDirectory, except, nowMs }: { jobDirectory: string; except: string; nowMs: number },
): Promise<WaitingRun[]> {
  const found: WaitingRun[] = [];
  const directories = await RunDirectories.read(files, jobDirectory);
  for await (const { run, path: directory, hasPlan, hasJournal } of directories.list(files)) {
    if (!hasPlan || !hasJournal || run === except) continue;
    const reading = readPlan(files, directory).then((plan) => readWaiting(files, { directory, plan }, nowMs));
    const waiting = await reading.catch(undefinedOnUserError);
    if (waiting !== undefined) found.push(waiting);
  }
  return found;
}
