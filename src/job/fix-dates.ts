import { isRowStep, type Job, type Step } from './job.js';
import { type CellTest, DAYS_AGO } from './schema/written-where.js';

/**
 * The job of a plan that is made at `nowMs`: days such as `90 days ago` in its `where` are dates from then on, by the host's calendar.
 * The plan keeps them, so that a run that is resumed on another day, and a retry of its rows, compare with the same day.
 */
export function fixDates(job: Job, nowMs: number): Job {
  return { ...job, steps: job.steps.map((step) => fixStep(step, new Date(nowMs))) };
}

function fixStep(step: Step, now: Date): Step {
  if (!isRowStep(step) || step.input.where === undefined) return step;
  const where = step.input.where.map((group) =>
    group.map(({ column, tests }) => ({ column, tests: tests.map((test) => fixTest(test, now)) })),
  );
  return { ...step, input: { ...step.input, where } };
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
