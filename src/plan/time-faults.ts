import type { Problem } from '../domain/errors.js';
import { formatTime, millisecondsOf, type StatedTime } from '../domain/stated-time.js';
import { isRowStep, type Job, type Step } from '../job/job.js';
import { kindOf } from '../kinds/kinds.js';

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

function findPassed(notAfter: StatedTime, nowMs: number): Problem | undefined {
  if (millisecondsOf(notAfter) > nowMs) return undefined;
  const message = `notAfter, ${formatTime(notAfter)}, is in the past, expected a future time`;
  return { where: 'schedule', at: ['notAfter'], message };
}
