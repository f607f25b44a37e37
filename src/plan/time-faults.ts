import type { Problem } from '../domain/errors.js';
import { isRowStep, type Job, type Step } from '../job/job.js';
import { kindOf } from '../kinds/kinds.js';

/** Times of the job and of its steps that have passed, or are too far ahead, as problems. Pure. */
export function listTimeFaults(
  { notAfter }: Pick<Job, 'notAfter'>,
  steps: readonly { readonly number: number; readonly step: Step }[],
  nowMs: number,
): Problem[] {
  const isOver = steps.length > 0 && notAfter !== undefined && Date.parse(notAfter) <= nowMs;
  const over = {
    where: 'schedule',
    at: ['notAfter'],
    message: `notAfter ${notAfter} is in the past, expected a future time`,
  };
  const ofSteps = steps.flatMap(({ number, step }): Problem[] => {
    const fault = isRowStep(step) ? kindOf(step).findTimeFault?.(step, nowMs) : undefined;
    if (fault === undefined) return [];
    const at = ['steps', number - 1, ...fault.key.split('.')];
    return [{ where: `step ${number} (${step.kind})`, at, message: fault.message }];
  });
  return isOver ? [over, ...ofSteps] : ofSteps;
}
