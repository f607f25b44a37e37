import { countOf } from '../domain/count-of.js';
import { remember } from '../domain/is-object.js';
import { formatTime } from '../domain/stated-time.js';
import { isRowStep, type Job, type Step } from '../job/job.js';
import { fixDates, listChangedKeys, matchSteps } from '../job/planned-job.js';
import { totalOf } from '../plan/format/plan-file.js';
import type { LeftOut, RestStep } from '../plan/select-inputs.js';
import { countHeld } from '../plan/tally.js';
import type { PastRun } from '../registry/read-runs.js';
import type { RegistryState } from '../registry/registry-state.js';
import { readWaiting } from '../registry/waiting-messages.js';
import { countNotSent, countUnsent, nameUnsent, type Summary } from '../report/summary.js';
import { readSummary } from '../report/write-report.js';
import { lineOf } from '../retry/claiming-plan.js';
import { isRetriedUnder } from '../run/resume.js';
import type { Files } from '../storage/files.js';

/**
 * A file that a run took is not sent as long as rows of it are not: says how many, and which run or plan has them, the newest of the run
 * that took the file and those that retry its rows.
 */
export function createNoteRest(of: {
  files: Files;
  history: readonly PastRun[];
  registry: RegistryState;
  /** The job that is planned. */
  job: Job;
  /** The job as it was loaded, before the days of its `where` became dates. */
  loaded: Job;
  nowMs: number;
}): (leftOut: LeftOut, step: number) => Promise<LeftOut> {
  const { files, history, registry, job, loaded, nowMs } = of;
  const plans = new Map(history.map(({ plan }) => [plan.id, plan]));
  const pasts = new Map<string, PastRun[]>();
  for (const past of history.toReversed())
    for (const run of lineOf(past.plan, plans)) remember(pasts, run, (): PastRun[] => []).push(past);
  const find = async (run: string): Promise<Partial<LeftOut> | undefined> => {
    for (const past of pasts.get(run) ?? []) {
      const rest = await findRest(files, past, { run, isAbandoned: registry.isAbandoned(past.plan.id) });
      if (rest === undefined) continue;
      const { next, said } = rest;
      const isAsPlanned = !isRetriedUnder(job, past.plan);
      return { reason: `was taken by run ${run}: ${said}`, rest: { directory: past.directory, next, isAsPlanned } };
    }
    return undefined;
  };
  // A run may have taken thousands of files.
  const rests = new Map<string, ReturnType<typeof find>>();
  const changes = new Map<string, ReturnType<typeof findChange>>();
  const findChange = async (run: string, number: number): Promise<Partial<LeftOut> | undefined> => {
    const line = pasts.get(run) ?? [];
    const past = line.find(({ plan }) => plan.id === run);
    const { begun } = registry.recordOf(run);
    if (past === undefined || begun === undefined) return undefined;
    const filtered = line.flatMap(({ plan }) => (plan.retryOf?.only === 'filtered' ? [plan.job] : []));
    return noteChange(files, past, { number, job, filtered, ofThen: fixDates(loaded, begun.at), nowMs });
  };
  return async (leftOut, step) => {
    const { run } = leftOut;
    if (run === undefined) return leftOut;
    const rest =
      (await remember(rests, run, () => find(run))) ??
      (await remember(changes, `${run} ${step}`, () => findChange(run, step)));
    return { ...leftOut, ...rest };
  };
}

/** What a run, or a plan of its rows, has not sent; undefined where that is nothing, or what a person or a list decided. */
async function findRest(
  files: Files,
  { plan, directory, state }: PastRun,
  { run, isAbandoned }: { run: string; isAbandoned: boolean },
): Promise<{ next: RestStep; said: string } | undefined> {
  const name = plan.id === run ? 'it' : `run ${plan.id}`;
  if (!isAbandoned && state === 'planned') {
    const rows = totalOf(plan, 'planned');
    if (rows === 0) return undefined;
    return { next: 'apply', said: `plan ${plan.id} has ${countOf(rows, 'row')} of it, and is not sent` };
  }
  if (!isAbandoned && state !== 'finished') return { next: 'resume', said: `${name} is not finished` };
  const summary = await readSummary(files, directory);
  if (summary === undefined) return undefined;
  const takenBack = countNotSent(summary, 'cancelled');
  if (summary.takenBackAt !== undefined && takenBack > 0) {
    const what = `${countOf(takenBack, 'message')} of ${name} ${takenBack === 1 ? 'was' : 'were'} taken back`;
    return { next: 'cancelled', said: `${what} on ${formatTime({ at: summary.takenBackAt })}` };
  }
  const rows = countUnsent(summary);
  if (rows === 0) return findHeld(summary, name);
  const said = `${countOf(rows, 'row')} of ${name} ${rows === 1 ? 'was' : 'were'} not sent`;
  return { next: nameUnsent(summary), said: isAbandoned ? `${said}, as it was abandoned` : said };
}

/** Rows that wait for a person, where a run sent nothing else. */
function findHeld(summary: Summary, name: string): { next: RestStep; said: string } | undefined {
  const { had, noZone } = countHeld(summary);
  const rows = had + noZone;
  if (rows === 0 || summary.balance.accepted > 0) return undefined;
  const said = `${countOf(rows, 'row')} of ${name} ${rows === 1 ? 'is' : 'are'} held, and none was sent`;
  return { next: had > 0 ? 'had-it-already' : 'no-time-zone', said };
}

/**
 * A change of the job sends no file again: says so of a file that was sent before it, and what does. `filtered`: jobs under which its filtered rows were
 * retried; `ofThen`: the job of now, on the day of the run.
 */
async function noteChange(
  files: Files,
  { plan, directory }: PastRun,
  change: { number: number; job: Job; filtered: readonly Job[]; ofThen: Job; nowMs: number },
): Promise<Partial<LeftOut> | undefined> {
  const { number, job, filtered, ofThen, nowMs } = change;
  const index = matchSteps(plan.job, job).findIndex((now) => now?.at === number - 1);
  const sent = `was already sent by run ${plan.id}`;
  if (index === -1)
    return {
      reason: `${sent}, by another step than step ${number}: a second text for the same people is a job of its own`,
    };
  const before = readingOf(plan.job.steps[index]);
  const now = readingOf(ofThen.steps[number - 1]);
  const isRetried = filtered.some(
    ({ steps }) => readingOf(steps[index]).where === readingOf(job.steps[number - 1]).where,
  );
  if (before.where !== now.where && !isRetried) {
    const rows = (await readSummary(files, directory))?.steps[index]?.skips.filtered ?? 0;
    const so = `${countOf(rows, 'row')} of it ${rows === 1 ? 'was' : 'were'} filtered, by another where`;
    const rest = { directory, next: 'filtered', isAsPlanned: !isRetriedUnder(job, plan) } as const;
    if (rows > 0) return { reason: `was taken by run ${plan.id}: ${so}`, rest };
  }
  const keys = listChangedKeys(plan.job, index, job);
  if (before.country !== now.country) keys.push('country');
  if (keys.length === 0) return undefined;
  const reason = `${sent}, with another ${keys.join(' and ')}`;
  const waiting = await readWaiting(files, { directory, plan }, nowMs);
  return waiting === undefined
    ? { reason }
    : { reason: `${reason}: ${waiting.said}`, rest: { directory, next: 'cancel' } };
}

function readingOf(step: Step | undefined): { where: string; country: string } {
  const { where, country, countryColumn } = step !== undefined && isRowStep(step) ? step.input : {};
  return { where: JSON.stringify(where ?? null), country: JSON.stringify([country ?? null, countryColumn ?? null]) };
}
