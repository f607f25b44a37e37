import { basename, join } from 'node:path';
import { sumOf } from '../domain/count-of.js';
import { InternalError, quoteWord, UserError } from '../domain/errors.js';
import { OPT_OUT_HEADER } from '../domain/opt-out-line.js';
import { isRowStep, type Job } from '../job/job.js';
import { readRunState } from '../journal/reader.js';
import type { RunStatus } from '../journal/replay.js';
import { JOURNAL_FILE, type PlanAt, readPlan } from '../plan/format/plan-file.js';
import { RunDirectories, readRunName, restoreTaken } from '../plan/format/run-directories.js';
import { assertOwnName, assertOwnPlace, isDay, nameDay, type RunEnded } from '../plan/format/run-record.js';
import { countUnderWay } from '../report/run-rows.js';
import type { OpenDoubt, RunInDoubt } from '../report/summary.js';
import { readSummary } from '../report/write-report.js';
import type { Files } from '../storage/files.js';
import type { BegunRun, RegistryState } from './registry-state.js';

export interface PastRun extends PlanAt {
  readonly state: RunStatus;
}

/** Every plan and run of a job whose rows are not pruned, in the order of their names. Refuses, with 'bad-plan', copies of runs among them. */
export async function readHistory(files: Files, jobDirectory: string, registry: RegistryState): Promise<PastRun[]> {
  const runs: PastRun[] = [];
  const directories = await RunDirectories.read(files, jobDirectory);
  for await (const { run, path: directory, hasPlan, hasJournal } of directories.list(files)) {
    // Where a run has begun, its plan must be there: without it, its files would be taken for new ones.
    if (registry.recordOf(run).pruned !== undefined) continue;
    if (!(hasPlan || (await restoreTaken(files, directory)) || hasJournal)) continue;
    const plan = await readPlan(files, directory);
    assertOwnName(directory, plan);
    directories.find(plan.id);
    await assertOwnPlace(files, directory);
    const state = hasJournal ? await readStatus(files, { directory, plan }, registry) : stateWithout(registry, run);
    runs.push({ directory, plan, state });
  }
  return runs;
}

/** The state of a run that has no journal. One whose journal is gone is no plan again: what it took stays taken, and who resumes it is refused. */
function stateWithout(registry: RegistryState, run: string): RunStatus {
  const { journal, ended } = registry.recordOf(run);
  if (journal === undefined) return 'planned';
  return ended?.state === 'finished' ? 'finished' : 'unfinished';
}

/** Reads the state of a run; a journal as long as at its end says what it said then. To read every past one would take longer each night. */
async function readStatus(files: Files, { directory, plan }: PlanAt, registry: RegistryState): Promise<RunStatus> {
  const path = join(directory, JOURNAL_FILE);
  const { ended } = registry.recordOf(plan.id);
  if (ended?.state === 'finished' && (await files.stat(path))?.bytes === ended.journalBytes) return 'finished';
  const { status } = (await readRunState(files, path)).state;
  // Its process died before the first line was on disk: another may be about to begin it.
  return status === 'planned' ? 'unfinished' : status;
}

/** Whether a finished run has its outputs: its process may have died before they were written. */
export async function isReported(files: Files, { directory }: Pick<PastRun, 'directory'>): Promise<boolean> {
  return (await readSummary(files, directory))?.state === 'finished';
}

interface Scope {
  /** Whether the job sends to the sandbox; undefined: runs of both kinds count. */
  readonly isSandbox?: boolean;
  /** A runner has the job: what is under way is not in doubt yet. */
  readonly isRunning?: boolean;
}

/**
 * Which runs of a job hold rows in doubt, and how many. Writes nothing, and needs no lock. Costs one small file a run: the
 * summary of a finished run holds the figure, and is withdrawn before rows are settled. Only of a run without a summary is
 * the journal read. Rows that were handed over to a database do not count: the same command finds out what came of them, and no
 * person can settle them before. Runs on the sandbox count for jobs on the sandbox alone: no person got their messages. Tests do not count.
 */
export async function readOpenDoubt(files: Files, jobDirectory: string, scope: Scope = {}): Promise<OpenDoubt> {
  const runs: RunInDoubt[] = [];
  for await (const { run, path: directory, hasPlan, hasJournal } of (
    await RunDirectories.read(files, jobDirectory)
  ).list(files)) {
    if (!hasPlan || !hasJournal) continue;
    const inDoubt = await countInDoubt(files, directory, scope).catch((error: unknown) => {
      // A failing disk is an error; a run that cannot be read is no reason to hide the others.
      if (error instanceof UserError || error instanceof InternalError) return null;
      throw error;
    });
    if (inDoubt !== 0) runs.push({ run, directory, inDoubt });
  }
  return { rows: sumOf(runs.map(({ inDoubt }) => inDoubt ?? 0)), runs };
}

async function countInDoubt(files: Files, directory: string, { isSandbox, isRunning }: Scope): Promise<number> {
  const { state, plan: id, balance } = (await readSummary(files, directory)) ?? {};
  const isOwn = state === 'finished' && id === readRunName(basename(directory));
  const figure = isOwn && Number.isSafeInteger(balance?.inDoubt) ? balance?.inDoubt : undefined;
  if (figure === 0) return 0;
  const plan = await readPlan(files, directory);
  const { sandbox } = plan.job.service;
  if (plan.testOf !== undefined || sandbox !== (isSandbox ?? sandbox)) return 0;
  if (figure !== undefined) return figure;
  const read = await readRunState(files, join(directory, JOURNAL_FILE));
  const { rows, withWorkers } = countUnderWay(read.state, plan);
  let count = isRunning ? 0 : rows - withWorkers;
  for (const { settledRows } of read.state.steps.values()) count += settledRows['in-doubt'];
  return count;
}

/**
 * Refuses to plan without the opt-outs of a memory that an earlier plan of the job had: there need be none at first, but where they are gone
 * people who opted out would be written to. `task` completes "Cannot …".
 */
export async function assertListsKept(
  files: Pick<Files, 'stat'>,
  { steps }: Pick<Job, 'steps'>,
  { history, task }: { history: readonly PastRun[]; task: string },
): Promise<void> {
  const lists = steps.flatMap((step) => (isRowStep(step) ? (step.suppress ?? []) : []));
  const shared = lists.flatMap((list) => (list.isShared === true ? list.files : []));
  for (const path of new Set(shared)) {
    if ((await files.stat(path)) !== undefined) continue;
    const had = history.findLast(({ plan }) =>
      plan.steps.some(({ suppression }) => suppression.some((list) => list.path === path)),
    );
    if (had === undefined) continue;
    throw new UserError('bad-input', `Cannot ${task}: ${path} is gone, the opt-outs that plan ${had.plan.id} had`, {
      hint: `Nothing was sent. Put it back from a backup. Only if no one had opted out, begin it anew: a file ${quoteWord(path)} with the line ${OPT_OUT_HEADER.trim()}`,
    });
  }
}

const HOUR_MS = 3_600_000;

/** A scheduler gives the same command again within minutes or hours, and a person by the next afternoon; the next night is later. */
const SAME_NIGHT_MS = 20 * HOUR_MS;

/** A pod that was refused, as another had the job, or that was killed as it ended, is started again by then. */
const STARTED_AGAIN_MS = HOUR_MS;

/** A scheduler has started it again by then; longer, and a job of each hour would miss no export. */
const STARTED_AT_ONCE_MS = HOUR_MS / 4;

const HALF_DAY_MS = 12 * HOUR_MS;
const DAY_MS = 24 * HOUR_MS;

/** From noon of its day: a run that began later gives its day to no new start, else new files of each hour would put off the new day without end. */
const LAST_BEGIN_MS = 13 * HOUR_MS;

/** When a command was started, and the time now: it may have stood by, or finished another run, since. */
interface Start {
  readonly startedAt: number;
  readonly nowMs: number;
}

/**
 * Finds the run of the same night whose day a start of a daily job belongs to: one that the same command has resumed, or that ended within
 * the hour. Otherwise a run that stopped, or ended, about midnight would be followed at once by one more message to everyone.
 */
export function findSameNight(
  registry: Pick<RegistryState, 'runs'>,
  { resumed, ...start }: Start & { readonly resumed: readonly string[] },
): BegunRun | undefined {
  return listOfNight(registry, start).findLast(({ plan, begun, ended }) => {
    if (!isDay(begun.occurrence)) return false;
    if (resumed.includes(plan)) return true;
    const beganInTime = begun.at - noonOf(begun.occurrence) < LAST_BEGIN_MS;
    // A clock that was ahead for a night would keep the job from sending until that day.
    if (begun.at - start.nowMs >= HALF_DAY_MS) return false;
    return beganInTime && ended?.state === 'finished' && start.startedAt - overAt(ended) < STARTED_AGAIN_MS;
  });
}

/**
 * Lists the runs of the night of a start that may have what came with that night: those that the same command has resumed, and those that have
 * just ended, as where a second process of the night starts behind the first, or behind one that was killed as it ended.
 */
export function listCameWith(
  registry: Pick<RegistryState, 'runs'>,
  { resumed, ...start }: Start & { readonly resumed: readonly string[] },
): string[] {
  const came = listOfNight(registry, start).filter(({ plan, ended }) => {
    const isOver = ended?.state === 'finished' && Math.abs(start.nowMs - overAt(ended)) < STARTED_AT_ONCE_MS;
    return isOver || resumed.includes(plan);
  });
  return came.map(({ plan }) => plan);
}

/** The runs with files of their own that are of the night of a start, or later by a clock that was ahead. */
function listOfNight({ runs }: Pick<RegistryState, 'runs'>, { startedAt }: Pick<Start, 'startedAt'>): BegunRun[] {
  const whole = [...runs.values()].filter(({ begun }) => begun.retryOf === null && begun.testOf === undefined);
  return whole.filter((run) => {
    const agoMs = startedAt - run.begun.at;
    return agoMs < HALF_DAY_MS || (agoMs < SAME_NIGHT_MS && startedAt < dueBehind(run, whole));
  });
}

/** From when on a start is that of the night behind a run, which may have begun late: known where the two nights before it began at one hour. */
function dueBehind({ begun }: BegunRun, runs: readonly BegunRun[]): number {
  const [last = Number.NaN, before = Number.NaN] = [DAY_MS, 2 * DAY_MS].map((agoMs) => {
    const day = nameDay(noonOf(begun.occurrence) - agoMs);
    return runs.find((run) => run.begun.occurrence === day)?.begun.at;
  });
  const isDaily = Math.abs(last - before - DAY_MS) < HOUR_MS;
  return isDaily ? last + 2 * DAY_MS - HOUR_MS : Number.POSITIVE_INFINITY;
}

/** A run of the same day that began so long before a start that this may be meant for another day. */
export function isEarly({ begun }: BegunRun, startedAt: number): boolean {
  return startedAt - begun.at >= HALF_DAY_MS;
}

/** Noon of a day. */
export function noonOf(occurrence: string): number {
  return Date.parse(`${occurrence}T12:00`);
}

function overAt({ at, endedAt }: RunEnded): number {
  return at ?? Date.parse(endedAt ?? '');
}
