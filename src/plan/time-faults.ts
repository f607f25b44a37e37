import { countOf } from '../domain/count-of.js';
import { type Problem, UserError } from '../domain/errors.js';
import { formatTime, listZones, millisecondsOf, readClock, type StatedTime } from '../domain/stated-time.js';
import { OpeningHours, type Window } from '../hours/window.js';
import { zonesOf } from '../hours/zone-groups.js';
import { isRowStep, type Job, type Step } from '../job/job.js';
import { kindOf } from '../kinds/kinds.js';
import { nameCountry } from '../normalize/country.js';
import type { Plan } from './format/plan-file.js';

/** Times of the job and of its steps that have passed, or are too far ahead, as problems. Pure. */
export function listTimeFaults(
  { notAfter }: Pick<Job, 'notAfter'>,
  steps: readonly { readonly number: number; readonly step: Step }[],
  nowMs: number,
): Problem[] {
  const over = steps.length > 0 && notAfter !== undefined ? findPassed(notAfter, nowMs) : undefined;
  const ofSteps = steps.flatMap(({ number, step }): Problem[] => {
    const fault = isRowStep(step) ? kindOf(step).findTimeFault?.(step, nowMs) : undefined;
    if (fault === undefined) return [];
    const at = ['steps', number - 1, ...fault.key.split('.')];
    return [{ where: `step ${number} (${step.kind})`, at, message: fault.message }];
  });
  return over === undefined ? ofSteps : [over, ...ofSteps];
}

/** Refuses what would be planned too late, or too far ahead. `task` completes "Cannot …". */
export function assertTimes(
  job: Pick<Job, 'notAfter'>,
  steps: Parameters<typeof listTimeFaults>[1],
  { nowMs, task, hint }: { nowMs: number; task: string; hint: string },
): void {
  const problems = listTimeFaults(job, steps, nowMs);
  const [first] = problems;
  if (first === undefined) return;
  throw new UserError('bad-job', `Cannot ${task}: ${first.where}: ${first.message}`, {
    hint: `${hint}; nothing was sent.`,
    problems,
  });
}

function findPassed(notAfter: StatedTime, nowMs: number): Problem | undefined {
  if (millisecondsOf(notAfter) > nowMs) return undefined;
  const message = `notAfter, ${formatTime(notAfter)}, is in the past, expected a future time`;
  return { where: 'schedule', at: ['notAfter'], message };
}

/** Groups of rows that the window of their step never lets leave, or not before `notAfter`. */
export function listClosed(
  window: Window,
  {
    groups,
    number,
    nowMs,
    notAfter,
    answerSeconds,
  }: {
    groups: Readonly<Record<string, number>>;
    number: number;
    nowMs: number;
    notAfter: StatedTime | undefined;
    answerSeconds: number;
  },
): Problem[] {
  const hours = new OpeningHours(window);
  const about = { where: `step ${number}`, at: ['steps', number - 1, 'window'] };
  return Object.entries(groups).flatMap(([group, count]): Problem[] => {
    const rows = countOf(count, 'row');
    const openMs = hours.findNextOpening(zonesOf(window, group), nowMs, answerSeconds * 1000);
    if (openMs === undefined) {
      const message = `${group} leaves no hour: ${window.from} to ${window.to} is never in all of its time zones for the ${answerSeconds} s that an answer may take (${rows})`;
      return [
        { ...about, message, hint: 'Widen the window, or name the zone of each row: timeZone: { column: NAME }.' },
      ];
    }
    if (notAfter === undefined || openMs < millisecondsOf(notAfter)) return [];
    const opens = formatTime({ at: new Date(openMs).toISOString() });
    const message = `${group} opens next on ${opens}, expected before notAfter, ${formatTime(notAfter)} (${rows})`;
    return [{ ...about, message, hint: 'Widen the window, or set a later notAfter.' }];
  });
}

/** Where a plan that leaves at once comes by night, from 22 to 8, with the local time; undefined where nowhere. */
export function findNight({ job, steps }: Pick<Plan, 'job' | 'steps'>, nowMs: number): string | undefined {
  const isLater = job.steps.some((step) => step.kind === 'sms' && (step.window ?? step.template.scheduled));
  if (isLater) return undefined;
  const found = steps
    .flatMap(({ countries }) => Object.keys(countries))
    .flatMap((country) => {
      const clocks = [...new Set(listZones(country).map((zone) => readClock(nowMs, zone).slice(11)))];
      const nights = clocks.filter((clock) => clock >= '22:00' || clock < '08:00');
      const where = nights.length < clocks.length ? 'in parts of ' : 'in ';
      return nights.length === 0 ? [] : [`${nights.slice(0, 3).join(' or ')} ${where}${nameCountry(country)}`];
    });
  return found.length === 0 ? undefined : found.slice(0, 5).join(', ');
}
