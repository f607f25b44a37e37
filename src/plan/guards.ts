import { countOf } from '../domain/count-of.js';
import { type Problem, UserError } from '../domain/errors.js';
import type { Guards } from '../job/job.js';
import { formatMoney, readNanos } from '../prices/decimal.js';
import { sumCost } from '../prices/sum-cost.js';
import type { Plan } from './format/plan-file.js';

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
  const total = (of: 'messages' | 'segments') => plan.steps.reduce((sum, step) => sum + step.counts[of], 0);
  const limits = [
    ['messages', 'maxMessages', maxMessages],
    ['segments', 'maxSegments', maxSegments],
  ] as const;
  for (const [of, guard, most] of limits) {
    if (most === undefined || total(of) <= most) continue;
    problems.push({ where: 'plan', message: `${total(of)} ${of} would be sent, expected at most ${guard} ${most}` });
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
