import { dirname, join } from 'node:path';
import type { RowKind } from '../domain/areas.js';
import { UserError } from '../domain/errors.js';
import type { Job } from '../job/job.js';
import { readRunState } from '../journal/reader.js';
import { kindOf } from '../kinds/kinds.js';
import { JOURNAL_FILE, type Plan, readPlan } from '../plan/format/plan-file.js';
import { RunDirectories, type RunDirectory } from '../plan/format/run-directories.js';
import { type RunRecord, readRunFile } from '../plan/format/run-record.js';
import type { Summary } from '../report/summary.js';
import { readSummary } from '../report/write-report.js';
import type { Files } from '../storage/files.js';
import type { PeopleHead } from './people-file.js';
import {
  isEnd,
  markOf,
  nameOfPeople,
  notePeople,
  peopleDirectoryOf,
  type RunMark,
  readOutputs,
  readPeopleHeads,
} from './people-memory.js';

/** A job as its memory of people concerns it: which one it names, where its runs are, how far back it asks. */
interface MemoryOwner {
  readonly job: Pick<Job, 'memory'>;
  readonly jobDirectory: string;
  readonly spanMs: number;
}

/** How far back a job asks: what was sent before that counts for nothing. */
export function spanOf({ sameTextWithin, frequency }: Job): number {
  return Math.max(sameTextWithin, frequency?.per ?? 0);
}

/**
 * Makes again what a memory lacks of runs that have sent something: of all runs of the job, whichever memory they were planned under, and of
 * other jobs beside it, or in an output directory that the memory knows, which share it. Gives how many there were. Refuses, where one was
 * sent within the span and its rows are pruned or lost.
 */
export async function noteMissing(files: Files, owner: MemoryOwner, nowMs: number): Promise<number> {
  const people = peopleDirectoryOf(owner.job, owner.jobDirectory);
  const heads = (await readPeopleHeads(files, people)).heads.map(({ head }) => head);
  const known = new Map(heads.map((head) => [nameOfPeople(head), head]));
  const over = new Set(heads.flatMap(({ isOver, directory }) => (isOver ? [directory] : [])));
  const forgotten: RunDirectory[] = [];
  let made = 0;
  for await (const { run, directory } of listRuns(files, { people, jobDirectory: owner.jobDirectory, over })) {
    const { record } = (await readRunFile(files, run.path)) ?? {};
    if (record?.pruned !== undefined || !run.hasJournal) {
      const isKnown = heads.some(({ plan }) => plan === run.run);
      if (!isKnown && mayHaveSent(record) && (await mayCount(files, run, { owner, directory, nowMs })))
        forgotten.push(run);
      continue;
    }
    const sent = await readSent(files, run);
    if (sent === undefined) continue;
    const { plan, mark } = sent;
    const before = known.get(nameOfPeople(mark));
    const isKnown = before !== undefined;
    const isOfMemory = peopleDirectoryOf(plan.job, directory) === people;
    // A run that keeps to another memory writes its end there: what this one has of it is old.
    const isOld = !isOfMemory || (isKnown && sent.endedSince(before));
    const isWanted = isKnown ? isOld : isOfMemory || directory === owner.jobDirectory;
    const isNoted = isWanted && (await notePeople(files, { directory: run.path, plan }, { nowMs, people }));
    if (isNoted && !isKnown) made += 1;
  }
  refuseForgotten(forgotten, people);
  return made;
}

interface SentRun {
  readonly plan: Plan;
  readonly mark: RunMark;
  /**
   * Whether its process ended, and what it noted then is lost: the memory is a backup, or the process died before it noted. False for a
   * copy of a run, which is older than `head`.
   */
  endedSince(head: PeopleHead): boolean;
}

/** Reads when a run sent and ended; undefined where it has sent nothing. */
async function readSent(files: Files, { path }: RunDirectory): Promise<SentRun | undefined> {
  const plan = await readPlan(files, path);
  const { state } = await readRunState(files, join(path, JOURNAL_FILE));
  const { lastSentAt, lastClose } = state;
  const mark = markOf(plan.id, state);
  if (mark === undefined || lastSentAt === undefined) return undefined;
  const endedSince: SentRun['endedSince'] = ({ sentAt, isOver }) =>
    lastClose !== undefined && (sentAt < lastSentAt || (!isOver && isEnd(lastClose)));
  return { plan, mark, endedSince };
}

/** Whether a run without a journal may have sent, by its record; one without a readable record may. */
function mayHaveSent(record: RunRecord | undefined): boolean {
  return record === undefined || (record.begun !== undefined && record.begun.testOf === undefined);
}

/** Lists all runs but those that are known to be over. */
async function* listRuns(
  files: Files,
  { people, jobDirectory, over }: { people: string; jobDirectory: string; over: ReadonlySet<string> },
): AsyncGenerator<{ run: RunDirectory; directory: string }> {
  for (const directory of await listJobDirectories(files, { people, jobDirectory })) {
    const directories = await RunDirectories.read(files, directory);
    for await (const run of directories.list(files, (path) => !over.has(path))) yield { run, directory };
  }
}

async function listJobDirectories(
  files: Files,
  { people, jobDirectory }: { people: string; jobDirectory: string },
): Promise<readonly string[]> {
  const outputs = new Set([dirname(jobDirectory), ...(await readOutputs(files, people))]);
  const found = new Set<string>([jobDirectory]);
  for (const output of outputs) {
    if ((await files.stat(output))?.isDirectory !== true) continue;
    for (const name of await files.list(output)) {
      const path = join(output, name);
      // Hidden ones are no job's, and those that begin with `_` are Volley's own.
      if (!/^[._]/.test(name) && (await files.stat(path))?.isDirectory === true) found.add(path);
    }
  }
  return [...found];
}

/** Whether a run whose rows are gone belongs to this memory and may have written to anyone of late: its summary says so, or cannot be read. */
async function mayCount(
  files: Files,
  { path }: RunDirectory,
  { owner, directory, nowMs }: { owner: MemoryOwner; directory: string; nowMs: number },
): Promise<boolean> {
  const summary = await readSummary(files, path);
  const people = peopleDirectoryOf(owner.job, owner.jobDirectory);
  const isOfMemory =
    directory === owner.jobDirectory || peopleDirectoryOf({ memory: summary?.memory }, directory) === people;
  return isOfMemory && (summary === undefined || hasWritten(summary, { nowMs, spanMs: owner.spanMs }));
}

/** Names all such runs at once: where a memory is lost, each night of the last weeks may be one. */
function refuseForgotten(runs: readonly RunDirectory[], people: string): void {
  const [first] = runs;
  if (first === undefined) return;
  const who = runs.length === 1 ? `run ${first.run}` : `${runs.length} runs`;
  const so = `${people} has no file of that, and the rows are pruned or lost`;
  throw new UserError('registry-mismatch', `Cannot tell whom ${who} wrote to: ${so}`, {
    hint: 'Put the files or the rows back from a backup. Or remove these directories as well: then the runs are forgotten, and who had their texts may get them again.',
    problems: runs.map(({ run, path }) => ({ where: path, message: `run ${run}` })),
  });
}

function hasWritten(
  { balance, endedAt, testOf, steps }: Summary,
  { nowMs, spanMs }: { nowMs: number; spanMs: number },
): boolean {
  const isRecent = nowMs - Date.parse(endedAt ?? '') <= spanMs;
  const hasTexts = steps.some(({ kind }) => kindOf({ kind: kind as RowKind })?.listTexts !== undefined);
  return testOf === undefined && isRecent && hasTexts && balance.accepted + balance.inDoubt > 0;
}
