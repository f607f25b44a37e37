import { countOf, format } from '../domain/count-of.js';
import { type Problem, UserError } from '../domain/errors.js';
import type { Guards, Job } from '../job/job.js';
import { formatMoney, readNanos } from '../prices/decimal.js';
import { sumCost } from '../prices/step-cost.js';
import { type Plan, totalOf } from './format/plan-file.js';

/** Refuses a plan that violates a guard of the job, before anything is sent. Pure. */
export function checkGuards(plan: Pick<Plan, 'steps' | 'prices'>, guards: Guards): void {
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
        hint: 'Check the rejections file; fix the input, or raise the guard if this is right.',
      });
    }
  }
  const limits = [
    ['messages', 'maxMessages', maxMessages],
    ['segments', 'maxSegments', maxSegments],
  ] as const;
  for (const [of, guard, most] of limits) {
    if (most === undefined || totalOf(plan, of) <= most) continue;
    problems.push({
      where: 'plan',
      message: `${totalOf(plan, of)} ${of} would be sent, expected at most ${guard} ${most}`,
    });
  }
  const cost = sumCost(plan.steps);
  if (maxCost !== undefined && plan.prices !== undefined && readNanos(cost) > readNanos(maxCost)) {
    const message = `${formatMoney(cost, plan.prices.currency)} would be spent, expected at most maxCost ${maxCost}`;
    problems.push({ where: 'plan', message });
  }
  if (problems.length === 0) return;
  throw new UserError('guard', 'Cannot send: the plan fails a guard of the job', {
    hint: 'Nothing was sent.',
    problems,
  });
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
