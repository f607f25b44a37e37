import { countOf, format } from '../domain/count-of.js';
import { type Problem, UserError } from '../domain/errors.js';
import { formatTime, millisecondsOf, type StatedTime } from '../domain/stated-time.js';
import { OpeningHours, type Window, zonesOf } from '../hours/window.js';
import { type Guards, isRowStep, type Job, type Step } from '../job/job.js';
import { kindOf } from '../kinds/kinds.js';
import { sumCost } from '../prices/cost-tally.js';
import { formatMoney, readNanos } from '../prices/decimal.js';
import { type Plan, totalOf } from './format/plan-file.js';

/** Refuses a plan that violates a guard of the job, before anything is sent. */
export function checkGuards(plan: Pick<Plan, 'steps' | 'prices'>, guards: Guards): void {
  const problems = findGuardFaults(plan, guards);
  if (problems.length === 0) return;
  throw new UserError('guard', 'Cannot send: the plan fails a guard of the job', {
    hint: 'Nothing was sent. Fix the input, or raise the guard if this is right; then run the same command again.',
    problems,
  });
}

/** Finds which guards of a job a plan violates. Pure. */
export function findGuardFaults(plan: Pick<Plan, 'steps' | 'prices'>, guards: Guards): Problem[] {
  const problems: Problem[] = [];
  const { maxRejectedPercent, maxMessages, maxSegments, maxCost } = guards;
  for (const { number, kind, counts, skips } of plan.steps) {
    // Filtered rows do not count: they would hide the share of wrong ones.
    const considered = counts.read - (skips.filtered ?? 0);
    const percent = considered === 0 ? 0 : (counts.rejected * 100) / considered;
    if (maxRejectedPercent !== undefined && percent > maxRejectedPercent) {
      const share = `${counts.rejected} of ${countOf(considered, 'row')} (${percent.toFixed(1)} %)`;
      problems.push({
        where: `step ${number} (${kind})`,
        message: `${share} would be rejected, expected at most maxRejectedPercent ${maxRejectedPercent}`,
        hint: 'Check the rejections file.',
      });
    }
  }
  const limits = [
    ['messages', 'maxMessages', maxMessages],
    ['segments', 'maxSegments', maxSegments],
  ] as const;
  for (const [of, guard, most] of limits) {
    const total = totalOf(plan, of);
    if (most === undefined || total <= most) continue;
    problems.push({ where: 'plan', message: `${total} ${of} would be sent, expected at most ${guard} ${most}` });
  }
  const cost = sumCost(plan.steps);
  if (maxCost !== undefined && plan.prices !== undefined && readNanos(cost) > readNanos(maxCost)) {
    const message = `${formatMoney(cost, plan.prices.currency)} would be spent, expected at most maxCost ${maxCost}`;
    problems.push({ where: 'plan', message });
  }
  return problems;
}

/** Whether nothing of a plan would be sent; a step without rows does one thing. */
export function sendsNothing({ steps }: Pick<Plan, 'steps'>): boolean {
  return steps.every(
    ({ counts, inputs, examples }) => counts.planned === 0 && (inputs.length > 0 || examples.length === 0),
  );
}

/** A sheet has 1,048,576 rows, of which the header is one. */
const MOST_SHEET_ROWS = 1_048_575;

/** Refuses outputs that would not fit a sheet, before anything is sent; receipts of all steps stand in one. */
export function assertFitsSheets({ output }: Pick<Job, 'output'>, steps: Pick<Plan, 'steps'>['steps']): void {
  if (output.format !== 'xlsx') return;
  const messages = totalOf({ steps }, 'messages');
  const most = Math.max(messages, ...steps.map(({ counts }) => counts.read));
  if (most <= MOST_SHEET_ROWS) return;
  throw new UserError(
    'bad-input',
    `Cannot plan the job: ${countOf(most, 'row')} would stand in one sheet (output.format: xlsx), expected at most ${format(MOST_SHEET_ROWS)}`,
    { hint: 'Nothing was sent. Write output.format: csv, or split the input into several files, one for each run.' },
  );
}

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
  asked: {
    groups: Readonly<Record<string, number>>;
    number: number;
    nowMs: number;
    notAfter: StatedTime | undefined;
    answerSeconds: number;
  },
): Problem[] {
  const { groups, number, nowMs, notAfter, answerSeconds } = asked;
  const hours = new OpeningHours(window);
  const about = { where: `step ${number}`, at: ['steps', number - 1, 'window'] };
  return Object.entries(groups).flatMap(([group, count]): Problem[] => {
    const rows = countOf(count, 'row');
    const openMs = hours.findNextOpening(zonesOf(window, group), nowMs, answerSeconds * 1000);
    if (openMs === undefined) {
      const message = `${group} leaves no hour: ${window.from} to ${window.to} is never in all of its time zones for the ${answerSeconds} s that an answer may take (${rows})`;
      const hint = 'Widen the window, or name the zone of each row: timeZone: { column: NAME }.';
      return [{ ...about, message, hint }];
    }
    if (notAfter === undefined || openMs < millisecondsOf(notAfter)) return [];
    const opens = formatTime({ at: new Date(openMs).toISOString() });
    const message = `${group} opens next on ${opens}, expected before notAfter, ${formatTime(notAfter)} (${rows})`;
    return [{ ...about, message, hint: 'Widen the window, or set a later notAfter.' }];
  });
}
