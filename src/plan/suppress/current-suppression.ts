import { UserError } from '../../domain/errors.js';
import type { Step } from '../../job/job.js';
import { type DigestedInput, digestFile } from '../inputs/select-inputs.js';
import type { PlanDeps } from '../plan-deps.js';
import type { ProblemList } from '../problems.js';

/** The suppression lists of a step as they are now; those that its plan was made with may be older. */
export async function listCurrentSuppression(
  step: Step,
  directory: string,
  { deps, problems }: { deps: PlanDeps; problems: ProblemList },
): Promise<DigestedInput[]> {
  if (step.kind !== 'sms' || step.suppress === undefined) return [];
  const { files: patterns, format } = step.suppress;
  const found = await problems.gather('suppress', async () => {
    if (patterns.includes('-')) {
      throw new UserError('bad-input', 'the suppression list came by standard input, expected a file', {
        hint: 'Re-import the rows: add them to the input of the job, with the list.',
      });
    }
    const listed = await deps.reader.listInputs(patterns, directory);
    const digested: DigestedInput[] = [];
    for (const file of listed) {
      digested.push({
        file: format === undefined ? file : { ...file, format },
        ...(await digestFile(file.path, deps)),
      });
    }
    return digested;
  });
  return found ?? [];
}
