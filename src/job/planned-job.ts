import { relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { UserError } from '../domain/errors.js';
import { isObject } from '../domain/is-object.js';
import { isRowStep, type Job, type RampStage, type Step } from './job.js';
import { parseShare } from './schema/values.js';
import { type CellTest, DAYS_AGO } from './schema/written-where.js';

/**
 * The job of a plan that is made at `nowMs`: days such as `90 days ago` in its `where` are dates from then on, by the host's calendar.
 * The plan keeps them, so that a run that is resumed on another day, and a retry of its rows, compare with the same day.
 */
export function fixDates(job: Job, nowMs: number): Job {
  const now = new Date(nowMs);
  const steps = job.steps.map((step) => {
    if (!isRowStep(step) || step.input.where === undefined) return step;
    const where = step.input.where.map((group) =>
      group.map(({ column, tests }) => ({ column, tests: tests.map((test) => fixTest(test, now)) })),
    );
    return { ...step, input: { ...step.input, where } };
  });
  return { ...job, steps };
}

function fixTest(test: CellTest, now: Date): CellTest {
  if (test.op !== 'before' && test.op !== 'after') return test;
  const [match, count = '0', unit = 'day'] = DAYS_AGO.exec(test.bound) ?? [];
  return match === undefined ? test : { ...test, bound: dayBefore(now, Number(count), unit) };
}

/** A month before 31 March is the last day of February. */
function dayBefore(now: Date, count: number, unit: string): string {
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()];
  const inDays = unit === 'day' || unit === 'week';
  const months = inDays ? 0 : count * (unit === 'year' ? 12 : 1);
  const lastOfMonth = new Date(Date.UTC(year, month - months + 1, 0)).getUTCDate();
  const days = inDays ? count * (unit === 'week' ? 7 : 1) : 0;
  return new Date(Date.UTC(year, month - months, Math.min(day, lastOfMonth) - days)).toISOString().slice(0, 10);
}

/** The largest `--first`: that many rows are kept in memory while a plan is made. */
const MOST_FIRST_ROWS = 10_000;

/** What `--first` says: a share, or a number of rows. */
export function parseFirst(text: string): RampStage['size'] | undefined {
  const percent = parseShare(text);
  if (percent !== undefined) return { percent };
  const rows = Number(text);
  if (!/^\d{1,9}$/.test(text) || rows === 0) return undefined;
  if (rows <= MOST_FIRST_ROWS) return { rows };
  throw new UserError('bad-flag', `Cannot send the first ${text}: expected at most ${MOST_FIRST_ROWS}, or a share`, {
    hint: 'Use a share, such as --first 5%.',
  });
}

/** The job with a sample before all else that its SMS steps send: a person then decides on the rest. */
export function sampleFirst(job: Job, size: RampStage['size']): Job {
  const fault = job.steps.some(({ ramp }) => ramp !== undefined)
    ? 'it has a ramp, which sends one first'
    : job.steps.every(({ kind }) => kind !== 'sms') && 'it has no step of kind sms';
  if (fault !== false) {
    const hint = 'Run it without --first.';
    throw new UserError('bad-flag', `Cannot send a sample of job ${job.name}: ${fault}`, { hint });
  }
  const steps = job.steps.map((step) =>
    step.kind === 'sms' ? { ...step, ramp: [{ size, isAsked: true }] as const } : step,
  );
  return { ...job, steps };
}

/** The job without the sample that one run of it sent first: a retry of its rows needs none. */
export function dropSample(job: Job): Job {
  const steps = job.steps.map((step) =>
    step.kind === 'sms' && step.ramp?.some(({ isAsked }) => isAsked) ? { ...step, ramp: undefined } : step,
  );
  return { ...job, steps };
}

/**
 * Which steps of a job those that were planned are by now, as steps are put in, taken out, swapped and changed: each is one that sends the same,
 * of the same files if there is one, in the same place if there are several; else one of its kind that is none of these, in the same place if that is
 * one. Undefined where none is left. `isSame`: it sends what it did.
 */
export function matchSteps(planned: Job, job: Job): readonly ({ at: number; isSame: boolean } | undefined)[] {
  const left = new Set(job.steps.keys());
  const found = planned.steps.map((step, index) => {
    const same = [...left].filter((at) => isDeepStrictEqual(contentOf(job.steps[at] as Step), contentOf(step)));
    const files = filesOf(step, planned);
    const ofFiles = same.filter((at) => isDeepStrictEqual(filesOf(job.steps[at] as Step, job), files));
    return take(left, ofFiles.length > 0 ? ofFiles : same, index);
  });
  return planned.steps.map(({ kind }, index) => {
    const same = found[index];
    if (same !== undefined) return { at: same, isSame: true };
    const ofKind = [...left].filter((at) => job.steps[at]?.kind === kind);
    const changed = take(left, ofKind, index);
    return changed === undefined ? undefined : { at: changed, isSame: false };
  });
}

function take(left: Set<number>, candidates: readonly number[], index: number): number | undefined {
  const at = candidates.includes(index) ? index : candidates[0];
  if (at !== undefined) left.delete(at);
  return at;
}

/** What a planned step says otherwise than the one that it is by now: `template.text`. */
export function listChangedKeys(planned: Job, index: number, job: Job): string[] {
  const now = matchSteps(planned, job)[index];
  if (now === undefined || now.isSame) return [];
  return compare(contentOf(planned.steps[index] as Step), contentOf(job.steps[now.at] as Step));
}

function compare(one: Record<string, unknown>, other: Record<string, unknown>, path = ''): string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((key) => {
    const [a, b] = [one[key], other[key]];
    if (isDeepStrictEqual(a, b)) return [];
    return isObject(a) && isObject(b) ? compare(a, b, `${path}${key}.`) : [`${path}${key}`];
  });
}

/** Keys that do not change what a step sends: to whom, how fast, and in which stages. */
const ASIDE = ['input', 'suppress', 'limits', 'batchSize', 'ramp'];

/** What a step sends, as plan.json has it. */
function contentOf(step: Step): Record<string, unknown> {
  const entries = Object.entries(JSON.parse(JSON.stringify(step)));
  return Object.fromEntries(entries.filter(([key]) => !ASIDE.includes(key)));
}

function filesOf(step: Step, { directory }: Job): string[] {
  return isRowStep(step) ? step.input.files.map((path) => relative(directory, path)) : [];
}
