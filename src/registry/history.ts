import { join } from 'node:path';
import { findLine, type JournalEntry, type JournalLine, OPEN_MARK, peekEpoch } from '../journal/entry-format.js';
import { readRunState } from '../journal/state-reader.js';
import { assertOwnName, assertOwnPlace } from '../plan/format/place.js';
import { JOURNAL_FILE, PLAN_FILE, type Plan, readPlan } from '../plan/format/plan-file.js';
import { RunDirectories } from '../plan/format/run-directories.js';
import { restoreTaken } from '../plan/replace-draft.js';
import { SUMMARY_FILE } from '../report/write-report.js';
import type { Files, ReadFile } from '../storage/files.js';
import { searchLines, splitLines } from '../storage/split-lines.js';
import { PRUNED_FILE } from './registry-entry.js';

export interface PastRun {
  readonly directory: string;
  readonly plan: Plan;
  readonly state: 'planned' | 'unfinished' | 'finished';
}

/** Whether a finished run has its outputs: its process may have died before they were written. */
export async function isReported(files: Files, run: PastRun): Promise<boolean> {
  const text = await files.readText(join(run.directory, SUMMARY_FILE));
  if (text === undefined) return false;
  try {
    return JSON.parse(text)?.state === 'finished';
  } catch {
    return false;
  }
}

/** Every plan and run of a job whose rows are not pruned, in the order of their names. Refuses, with 'bad-plan', copies of runs among them. */
export async function readHistory(files: Files, jobDirectory: string): Promise<PastRun[]> {
  const runs: PastRun[] = [];
  const directories = await RunDirectories.read(files, jobDirectory);
  for (const name of directories.names) {
    const directory = join(jobDirectory, name);
    if (name.startsWith('.')) continue;
    if (!(await holdsPlan(files, directory))) continue;
    const plan = await readPlan(files, directory);
    assertOwnName(directory, plan);
    directories.find(plan.id);
    await assertOwnPlace(files, directory);
    runs.push({ directory, plan, state: await readState(files, join(directory, JOURNAL_FILE)) });
  }
  return runs;
}

/** Where a run has begun, its plan must be there: without it, its files would be taken for new ones. */
async function holdsPlan(files: Files, directory: string): Promise<boolean> {
  const isThere = async (name: string) => (await files.stat(join(directory, name))) !== undefined;
  if (await isThere(PRUNED_FILE)) return false;
  if ((await isThere(PLAN_FILE)) || (await restoreTaken(files, directory))) return true;
  return isThere(JOURNAL_FILE);
}

const TAIL_BYTES = 1 << 16;

/**
 * The last line of the journal's highest epoch tells: reading all of every past journal would take longer each night. Lines
 * that settle rows, or give them away, say nothing of the run's end, and are passed over.
 */
async function readState(files: Files, path: string): Promise<PastRun['state']> {
  if ((await files.stat(path)) === undefined) return 'planned';
  const file = await files.openRead(path);
  try {
    const last = await readLast(file);
    if (isFinished(last?.entry)) return 'finished';
    if (!(await holdsNewerLine(file, last?.epoch ?? 0))) return 'unfinished';
  } finally {
    await file.close();
  }
  // Late lines of a runner that had lost its lock hide the end.
  const { state } = await readRunState(files, path);
  return isFinished(state.lastClose) ? 'finished' : 'unfinished';
}

function isFinished(entry: JournalEntry | undefined): boolean {
  return entry?.type === 'close' && entry.reason === 'finished';
}

/** Of the highest epoch in as much of the journal's end as has a whole line. */
async function readLast(file: ReadFile): Promise<Last | undefined> {
  for (let bytes = TAIL_BYTES; ; bytes *= 8) {
    const last = await readLastFrom(file, Math.max(0, file.bytes - bytes));
    if (last !== undefined || bytes >= file.bytes) return last;
  }
}

type Last = Pick<JournalLine, 'epoch' | 'entry'>;

async function readLastFrom(file: ReadFile, start: number): Promise<Last | undefined> {
  let last: Last | undefined;
  let epoch = 0;
  for await (const { bytes, isWhole } of splitLines(file, start)) {
    const line = isWhole ? findLine(bytes)?.line : undefined;
    // A line of an older epoch is the late word of a runner that had lost its lock.
    if (line === undefined || line.epoch < epoch) continue;
    epoch = line.epoch;
    if (line.entry.type !== 'settle' && line.entry.type !== 'retry') last = { epoch, entry: line.entry };
  }
  return last;
}

/** Whether a runner of a later epoch began anywhere before. */
async function holdsNewerLine(file: ReadFile, epoch: number): Promise<boolean> {
  for await (const { bytes } of searchLines(file, OPEN_MARK)) if (peekEpoch(bytes) > epoch) return true;
  return false;
}
