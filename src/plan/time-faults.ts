import type { Problem } from '../domain/errors.js';
import { isRowStep, type Step } from '../job/job.js';
import { kindOf } from '../kinds/kinds.js';

/** Times of steps that have passed, or are too far ahead, as problems. Pure. */
export function listTimeFaults(
  steps: readonly { readonly number: number; readonly step: Step }[],
  nowMs: number,
): Problem[] {
  return steps.flatMap(({ number, step }): Problem[] => {
    const fault = isRowStep(step) ? kindOf(step).findTimeFault?.(step, nowMs) : undefined;
    if (fault === undefined) return [];
    const at = ['steps', number - 1, ...fault.key.split('.')];
    return [{ where: `step ${number} (${step.kind})`, at, message: fault.message }];
  });
}
