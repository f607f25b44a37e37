import { countOf } from '../../domain/count-of.js';
import { UserError } from '../../domain/errors.js';
import { isRowStep } from '../../job/job.js';
import { maskNumber } from '../../normalize/mask.js';
import type { PlanDeps } from '../plan-deps.js';
import { ProblemList } from '../problems.js';
import { listCurrentSuppression } from '../suppress/current-lists.js';
import { loadSuppression } from '../suppress/suppression.js';
import type { TestSource } from './make-test-plan.js';

/** Refuses a test to a number that is on a suppression list of the job, as the lists are now. */
export async function assertNotSuppressed(
  { job, numbers }: Pick<TestSource, 'job' | 'numbers'>,
  deps: PlanDeps,
): Promise<void> {
  const problems = new ProblemList('send a test');
  const suppressed = new Set<string>();
  for (const step of job.steps) {
    if (!isRowStep(step) || step.suppress === undefined) continue;
    const lists = await listCurrentSuppression(step, job.directory, { deps, problems });
    const list = await loadSuppression(lists, step.input, { deps, problems });
    for (const { e164 } of numbers) if (list.find(e164) !== undefined) suppressed.add(e164);
  }
  problems.throwIfAny();
  if (suppressed.size === 0) return;
  const listed = [...suppressed].map(maskNumber).join(', ');
  throw new UserError(
    'bad-input',
    `Cannot send a test: ${countOf(suppressed.size, 'number')} on a suppression list of the job (${listed}), expected numbers that are on no list`,
    { hint: 'Nothing was sent. Remove it from --to, or from testNumbers.' },
  );
}
